// Chooses an item and draws it.

const viewer = document.getElementById("viewer");
const chooser = document.getElementById("item");

function fillTable(table, headers, rows) {
  const cells = (tag, values) => {
    const row = document.createElement("tr");
    row.append(...values.map((value) => Object.assign(document.createElement(tag), { textContent: value })));
    return row;
  };
  const head = cells("th", headers);
  for (const cell of head.cells) cell.scope = "col";
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...rows.map((row) => cells("td", row)));
}

function curveTables(item) {
  const shown = item.codes.length === 2 ? [1] : [...item.codes.keys()];
  const model = abilities.map((t, n) => {
    const p = probabilities(item, n);
    return [t.toFixed(2), ...shown.map((c) => p[c].toFixed(3))];
  });
  const observed = (item.observed ?? []).map(([t, weight, ...shares]) => [
    t.toFixed(2),
    weight.toFixed(1),
    ...shown.flatMap((c) => [shares[c], ...shareLimits(shares[c], weight)].map((v) => v.toFixed(3))),
  ]);
  return [
    [["Ability", ...shown.map((c) => `P(x = ${item.codes[c]})`)], model],
    [["Ability", "Answers", ...shown.flatMap((c) => [`Share of ${item.codes[c]}`, "95\u00a0% from", "to"])], observed],
  ];
}

function refresh(id, item, title, draw, tables) {
  const figure = document.getElementById(id);
  figure.dataset.name = `${id}-${item.name}`;
  figure.querySelector("h3").textContent = title;
  for (const svg of figure.querySelectorAll(".drawing svg")) {
    draw(svg, item);
    svg.setAttribute("aria-label", title);
  }
  figure.querySelector(".drawing").setAttribute("aria-label", `${title}. Arrow keys read the values.`);
  figure.querySelectorAll("details table").forEach((table, i) => fillTable(table, ...tables[i]));
  behind.set(figure, tablesOf(figure));
  endReading(figure.querySelector(".drawing"));
}

function axisName(svg, item) {
  const name = [...svg.children].find((node) => node.tagName === "text");
  name.textContent = item.codes.length === 2 ? `Probability of answer ${item.codes[1]}` : "Probability of each category";
}

const view = () => document.querySelector("input[name=view]:checked").value;

function choose(index) {
  if (view() === "item-overlay") return overlay(index);
  const item = data.items[index];
  chooser.value = index;
  if ("linked" in viewer.dataset) history.replaceState(null, "", `?item=${index + 1}${location.hash}`);
  for (const row of itemsTable.tBodies[0].rows) row.classList.toggle("chosen", Number(row.dataset.item) === index);
  const message = document.getElementById("no-curve");
  message.hidden = !item.why;
  message.textContent = item.why ?? "";
  showView();
  if (item.why) return;
  const informed = abilities.map((t, n) => [t.toFixed(2), information(item, n).toFixed(3)]);
  refresh("item-curves", item, `Characteristic curves of ${item.name}`, drawCurves, curveTables(item));
  for (const svg of document.querySelectorAll("#item-curves .drawing svg")) axisName(svg, item);
  refresh("item-information", item, `Information of ${item.name}`, drawInformation, [[["Ability", "Information"], informed]]);
  const about = whiskersShown(item) ? data.notes.points : data.notes.bare;
  const notes = [item.observed ? about : data.notes.withheld, ...(item.band ? [data.notes.band] : [])];
  document.querySelector("#item-curves figcaption").textContent = notes.join(" ");
}

function showView() {
  const wanted = view();
  const empty = !document.getElementById("no-curve").hidden;
  for (const id of ["item-curves", "item-information"]) {
    document.getElementById(id).hidden = empty || id !== wanted;
  }
  document.getElementById("overlay-frame").hidden = wanted !== "item-overlay";
  document.getElementById("overlay-said").hidden = wanted !== "item-overlay";
  const item = data.items[chooser.value];
  document.querySelector(".curves-only").hidden = wanted !== "item-curves" || !item.observed || item.codes.length === 2;
}

// The item that is shown becomes the first on the picture of several, and the other way round.
function changeView() {
  if (view() === "item-overlay") {
    if (overlaid.length) showOverlay();
    else overlay(Number(chooser.value));
  } else {
    for (const button of itemsTable.querySelectorAll("th button")) button.removeAttribute("aria-pressed");
    choose(Number(chooser.value));
  }
  showView();
}

// The neighbour in the order in which the table stands, among the rows that the filter shows.
function neighbour(step) {
  const rows = [...itemsTable.tBodies[0].rows].filter((row) => !row.hidden);
  const here = rows.findIndex((row) => row.dataset.item === chooser.value);
  const next = rows[(here + step + rows.length) % rows.length];
  if (next) choose(Number(next.dataset.item));
}

// Without a drawable first item there is no frame to draw into, and nothing to choose.
if (viewer && viewer.querySelector("#item-curves svg")) {
  chooser.addEventListener("change", () => choose(Number(chooser.value)));
  document.getElementById("previous").addEventListener("click", () => neighbour(-1));
  document.getElementById("next").addEventListener("click", () => neighbour(1));
  for (const radio of document.querySelectorAll("input[name=view]")) radio.addEventListener("change", changeView);
  document.getElementById("whiskers").addEventListener("change", () => choose(Number(chooser.value)));
  for (const row of itemsTable.tBodies[0].rows) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = row.cells[0].textContent;
    row.cells[0].replaceChildren(button);
    row.addEventListener("click", () => {
      choose(Number(row.dataset.item));
      // On a telephone the viewer stands below the table.
      const { top, bottom } = viewer.getBoundingClientRect();
      if (top > innerHeight - 120 || bottom < 120) viewer.scrollIntoView({ behavior: "smooth", block: "start" });
    });
  }
  // What a browser remembers of an earlier visit is not what stands on the page.
  document.querySelector("input[name=view][value=item-curves]").checked = true;
  choose([...chooser.options].findIndex((option) => option.defaultSelected));
}
