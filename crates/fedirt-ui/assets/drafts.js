// A form with data-draft="NAME" survives a session that ends while it is filled in: what was typed is kept in this tab from
// sending it until the page after the log-in, for the same person alone. Passwords, files and hidden fields never are.

const DRAFT = "fedirt-draft";
const whoNow = () => document.querySelector("form.who span")?.textContent;

function draftOf(form) {
  const fields = [...form.elements].filter((field) => field.name && !["password", "file", "hidden"].includes(field.type));
  return fields.map((field) => [field.name, /^(radio|checkbox)$/.test(field.type) ? field.checked : null, field.value]);
}

function fillIn(form, draft) {
  for (const field of form.elements) {
    const box = /^(radio|checkbox)$/.test(field.type);
    const kept = draft.find(([name, checked, value]) => name === field.name && (!box || value === field.value));
    if (!kept || ["password", "file", "hidden"].includes(field.type)) continue;
    if (box) field.checked = kept[1];
    else field.value = kept[2];
  }
  for (const details of form.querySelectorAll("details")) details.open = true;
  const said = document.createElement("p");
  said.className = "note";
  said.setAttribute("role", "status");
  said.textContent = "What you had typed is back. It has not been sent yet.";
  form.prepend(said);
}

function keepDrafts() {
  const kept = JSON.parse(sessionStorage.getItem(DRAFT) ?? "null");
  if (kept && !whoNow()) {
    // Nobody is logged in: this is the door, and the draft waits.
    sessionStorage.setItem(DRAFT, JSON.stringify({ ...kept, waited: true }));
  } else {
    const form = kept?.waited && kept.who === whoNow() && document.querySelector(`form[data-draft="${CSS.escape(kept.name)}"]`);
    sessionStorage.removeItem(DRAFT);
    if (form) fillIn(form, kept.draft);
  }
  for (const form of document.querySelectorAll("form[data-draft]")) {
    form.addEventListener("submit", () => {
      const draft = { name: form.dataset.draft, who: whoNow(), draft: draftOf(form) };
      try {
        sessionStorage.setItem(DRAFT, JSON.stringify(draft));
      } catch {
        // Too long for the tab's store: then it is as if there were none.
        sessionStorage.removeItem(DRAFT);
      }
    });
  }
}

try {
  keepDrafts();
} catch {
  // A browser that keeps nothing: forms work all the same.
}
