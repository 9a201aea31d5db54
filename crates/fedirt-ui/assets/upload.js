// A file field with data-upload="ADDRESS" sends the file there as it is, with the page's token; the server answers with a
// redirect to where things go on. What is wrong is said in the element with the field's id and "-said".

for (const input of document.querySelectorAll("input[type=file][data-upload]")) {
  const said = document.getElementById(`${input.id}-said`);
  input.addEventListener("change", async () => {
    const file = input.files[0];
    if (!file) return;
    said.textContent = `Reading ${file.name} …`;
    try {
      const answer = await fetch(`${input.dataset.upload}?name=${encodeURIComponent(file.name)}`, {
        method: "POST",
        body: file,
        credentials: "same-origin",
        headers: {
          "content-type": "application/octet-stream",
          "x-fedirt-form": document.querySelector("input[name=csrf]").value,
        },
      });
      if (answer.ok) return location.assign(answer.url);
      if (answer.status === 401) return location.reload();
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      said.textContent = page.querySelector("main .measure")?.textContent ?? "The file was not taken.";
    } catch {
      said.textContent = "There is no answer. Is fedirt still running? Choose the file again when it is.";
    }
    input.value = "";
  });
}
