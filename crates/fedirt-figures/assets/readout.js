// Reads the numbers behind a picture at the pointer, or with the arrow keys.

const tablesOf = (figure) => [...figure.querySelectorAll("table")].map((table) => ({
  caption: table.caption.textContent,
  headers: [...table.tHead.rows[0].cells].map((cell) => cell.textContent),
  rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)),
}));

// Kept apart from the document, so that sorting a table does not change what a picture reads.
const behind = new Map();
for (const figure of document.querySelectorAll("figure")) behind.set(figure, tablesOf(figure));

function visibleDrawing(box) {
  return [...box.querySelectorAll("svg")].find((svg) => svg.getBoundingClientRect().width > 0);
}

function readRow(box, index) {
  const svg = visibleDrawing(box);
  const table = behind.get(box.closest("figure"))[0];
  if (!svg?.dataset.read || !table?.rows[index]) return;
  const { read, first, last, rows } = svg.dataset;
  const at = Number(rows) > 1 ? Number(first) + ((last - first) * index) / (rows - 1) : Number(first);
  box.dataset.index = index;
  drawGuide(svg, read, at);
  showReadout(box, svg, table, index, read, at);
}

function drawGuide(svg, read, at) {
  svg.querySelector(".guide")?.remove();
  const { width, height } = svg.viewBox.baseVal;
  const [left, top, right, bottom] = svg.dataset.frame?.split(" ").map(Number) ?? [0, 26, width, height - 46];
  const guide = document.createElementNS(svg.namespaceURI, "path");
  guide.setAttribute("class", "guide");
  guide.setAttribute("d", read === "x" ? `M${at} ${Math.min(top, 34)}V${bottom}` : `M${left} ${at}H${right}`);
  svg.append(guide);
}

function showReadout(box, svg, table, index, read, at) {
  const output = box.querySelector(".readout");
  const lines = table.headers.map((header, i) => [header, table.rows[index][i]]).filter(([, value]) => value);
  output.replaceChildren(...lines.map(([header, value]) => {
    const line = document.createElement("span");
    const name = document.createElement("b");
    name.textContent = `${header} `;
    line.append(name, value.length > 160 ? `${value.slice(0, 160)}…` : value);
    return line;
  }));
  output.hidden = false;
  const frame = svg.getBoundingClientRect();
  const own = box.getBoundingClientRect();
  const scale = frame.width / svg.viewBox.baseVal.width;
  const x = frame.left - own.left + box.scrollLeft;
  const y = frame.top - own.top + box.scrollTop;
  if (read === "x") {
    const right = at * scale + 14 + output.offsetWidth < frame.width;
    output.style.left = `${x + at * scale + (right ? 12 : -12 - output.offsetWidth)}px`;
    output.style.top = `${y + 40 * scale}px`;
  } else {
    const below = at * scale + 14 + output.offsetHeight < frame.height;
    output.style.left = `${x + frame.width - output.offsetWidth - 4}px`;
    output.style.top = `${y + at * scale + (below ? 10 : -10 - output.offsetHeight)}px`;
  }
}

function endReading(box) {
  box.querySelector(".readout").hidden = true;
  for (const guide of box.querySelectorAll(".guide")) guide.remove();
}

for (const box of document.querySelectorAll(".drawing")) {
  box.addEventListener("pointermove", (event) => {
    const svg = visibleDrawing(box);
    if (!svg?.dataset.read) return;
    const frame = svg.getBoundingClientRect();
    const { read, first, last, rows } = svg.dataset;
    const scale = svg.viewBox.baseVal.width / frame.width;
    const at = (read === "x" ? event.clientX - frame.left : event.clientY - frame.top) * scale;
    const share = Number(rows) > 1 ? (at - first) / (last - first) : 0;
    if (share < -0.06 || share > 1.06) endReading(box);
    else readRow(box, Math.min(rows - 1, Math.max(0, Math.round(share * (rows - 1)))));
  });
  box.addEventListener("pointerleave", () => endReading(box));
  box.addEventListener("blur", () => endReading(box));
  box.addEventListener("keydown", (event) => {
    const svg = visibleDrawing(box);
    const keys = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
    if (!svg?.dataset.read) return;
    if (event.key === "Escape") return endReading(box);
    if (!(event.key in keys)) return;
    event.preventDefault();
    const last = Number(svg.dataset.rows) - 1;
    const start = svg.dataset.read === "x" ? Math.floor(last / 2) : -1;
    const from = box.dataset.index === undefined ? start : Number(box.dataset.index);
    readRow(box, Math.min(last, Math.max(0, from + keys[event.key])));
  });
}
