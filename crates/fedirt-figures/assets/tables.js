// Tables: a click on a heading sorts, the field above the items filters, the radio buttons change the form.

const leading = (text) => {
  const plain = text.replace(/[\u202f\s]+(?=\d{3})/g, "");
  return /^[-+]?(\d|\.\d)/.test(plain) ? parseFloat(plain) : NaN;
};
const names = new Intl.Collator(undefined, { numeric: true });

function compareCells(a, b) {
  const [x, y] = [leading(a), leading(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y || names.compare(a, b);
  return names.compare(a, b);
}

// What is not there goes last, whichever way the rest is sorted.
const absent = (text) => text === "" || text === "\u2013";

function sortTable(table, column, heading) {
  const down = heading.getAttribute("aria-sort") === "ascending";
  const body = table.tBodies[0];
  const keyed = [...body.rows].map((row) => [row.cells[column].textContent.trim(), row]);
  keyed.sort(([a], [b]) => absent(a) - absent(b) || (down ? compareCells(b, a) : compareCells(a, b)));
  body.append(...keyed.map(([, row]) => row));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
}

for (const table of document.querySelectorAll("table[data-sortable]")) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    if ("plain" in heading.dataset) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    // Headings that paper repeats on each page show no buttons: the stylesheet writes this there.
    heading.dataset.text = heading.textContent;
    button.title = `Sort by ${heading.textContent}`;
    heading.replaceChildren(button);
    button.addEventListener("click", () => sortTable(table, column, heading));
  });
}

const itemsTable = document.getElementById("items-table");
if (itemsTable) {
  const rows = [...itemsTable.tBodies[0].rows];
  const status = document.getElementById("filtered");
  document.getElementById("filter").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    status.textContent = wanted ? `${shown} of ${rows.length} items` : "";
  });
  for (const radio of document.querySelectorAll("input[name=form]")) {
    radio.addEventListener("change", () => { itemsTable.dataset.form = radio.value; });
  }
}
