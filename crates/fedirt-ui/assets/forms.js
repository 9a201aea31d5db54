// Small help with forms; each of them works without.

// A log-in key behind the # of the address never reaches the server's log: it is put into the field and taken away.
const keyField = document.getElementById("key");
function takeKey() {
  if (location.hash.length <= 40) return;
  const [, once, key] = location.hash.match(/^#(once\.)?(.*)$/);
  history.replaceState(null, "", location.pathname + location.search);
  if (!keyField) return;
  keyField.value = key;
  // A code of the program that opened this page logs in once, without a click.
  if (once) keyField.form.requestSubmit();
}
takeKey();
// A link that is followed while the log-in page is open changes nothing but the #.
addEventListener("hashchange", takeKey);

// A button with data-copy="ID" copies that element's text.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    const said = button.textContent;
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => { button.textContent = said; }, 2000);
  });
}

// A button with data-file="ID" saves that element's text under data-name.
for (const button of document.querySelectorAll("[data-file]")) {
  button.addEventListener("click", () => {
    const text = document.getElementById(button.dataset.file).textContent.trim();
    download(button.dataset.name, new Blob([`${text}\n`], { type: "text/plain" }));
  });
}

for (const button of document.querySelectorAll("[data-print]")) button.addEventListener("click", () => print());

// A file is read in the browser, into the text field with data-into. Of a file with answers the first line alone is taken.
for (const input of document.querySelectorAll("input[type=file][data-into]")) {
  input.addEventListener("change", async () => {
    const target = document.getElementById(input.dataset.into);
    const file = input.files[0];
    if (!file) return;
    const start = (await file.slice(0, 1 << 20).text()).replace(/^\uFEFF/, "");
    const header = start.split(/\r?\n/, 1)[0];
    const codebook = /(^|[,;\t])\s*"?categories"?\s*([,;\t]|$)/i.test(header) || /^\s*\[\[item\]\]/m.test(start);
    const whole = codebook || "whole" in input.dataset;
    target.value = whole ? await file.text() : header;
    const said = document.getElementById(`${input.dataset.into}-said`);
    if (said) {
      said.textContent = whole
        ? `${file.name} was read${codebook ? " as a codebook" : ""}.`
        : `Only the first line of ${file.name} was read: the names of its columns. Its answers stay where they are.`;
    }
    target.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
