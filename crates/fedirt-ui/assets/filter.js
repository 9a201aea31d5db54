// A search field with data-filter="ID" hides the rows of that table which do not hold its text.

for (const field of document.querySelectorAll("input[data-filter]")) {
  const status = document.getElementById(`${field.dataset.filter}-shown`);
  field.addEventListener("input", () => {
    // Looked up each time: a page that updates itself may have another one by now.
    const table = document.getElementById(field.dataset.filter);
    const wanted = field.value.trim().toLowerCase();
    const rows = [...table.tBodies[0].rows];
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    if (status) status.textContent = wanted ? `${shown} of ${rows.length}` : "";
  });
}

// Radio buttons in a fieldset with data-shows="ID" set that element's data-form.
for (const choice of document.querySelectorAll("[data-shows]")) {
  choice.addEventListener("change", (event) => {
    document.getElementById(choice.dataset.shows).dataset.form = event.target.value;
  });
}
