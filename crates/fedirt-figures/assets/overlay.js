// Several items on one picture: those that were chosen, each with its name on its curve.

const MOST_OVERLAID = 8;
const overlaid = [];

// The expected score as a share of the highest one.
const expectedShare = (item, n) => probabilities(item, n).reduce((sum, p, c) => sum + c * p, 0) / (item.codes.length - 1);

// Where each name stands on its curve: as far as can be from other curves and from names that stand already.
function placesOfNames(curves) {
  const points = abilities.length;
  const taken = [];
  return curves.map((curve, n) => {
    const room = (at) => Math.min(
      3,
      ...taken.map(([x, y]) => Math.hypot((at / points - x) / 0.125, (curve[at] - y) / 0.05)),
      ...curves.filter((_, m) => m !== n).map((other) => Math.abs(curve[at] - other[at]) / 0.05),
    );
    const inside = [...curve.keys()].filter((at) => at >= points / 8 && at < points - points / 8 && curve[at] > 0.06 && curve[at] < 0.94);
    const best = inside.reduce((one, at) => (one === null || room(at) > room(one) ? at : one), null) ?? Math.floor(points / 2);
    taken.push([best / points, curve[best]]);
    return best;
  });
}

function drawOverlay(svg, chosen) {
  const draw = pen(svg, emptied(svg, "marks"));
  const curves = chosen.map((item) => abilities.map((_, n) => expectedShare(item, n)));
  curves.forEach((curve, n) => draw.curve(curve.map((y, i) => [draw.x(abilities[i]), draw.y(y)]), data.ink.series[n]));
  placesOfNames(curves).forEach((at, n) => {
    draw.label(draw.x(abilities[at]), draw.y(curves[n][at]) + 4, "middle", data.ink.series[n], chosen[n].name);
  });
}

// Puts an item on the picture, or takes it away again.
function overlay(index) {
  const item = data.items[index];
  const said = document.getElementById("overlay-said");
  const at = overlaid.indexOf(index);
  if (at >= 0 && overlaid.length > 1) overlaid.splice(at, 1);
  else if (at < 0 && item.why) { said.textContent = item.why; return; }
  else if (at < 0 && overlaid.length === MOST_OVERLAID) { said.textContent = `At most ${MOST_OVERLAID} items: choose one of them again to take it away.`; return; }
  else if (at < 0) overlaid.push(index);
  showOverlay();
}

function showOverlay() {
  const said = document.getElementById("overlay-said");
  const chosen = overlaid.map((n) => data.items[n]);
  said.textContent = `Choose up to ${MOST_OVERLAID} items in the table; choose one again to take it away. Shown: ${chosen.map(({ name }) => name).join(", ")}.`;
  for (const row of itemsTable.tBodies[0].rows) {
    const shown = overlaid.includes(Number(row.dataset.item));
    row.classList.toggle("chosen", shown);
    row.querySelector("th button")?.setAttribute("aria-pressed", shown);
  }
  const rows = abilities.map((t, n) => [t.toFixed(2), ...chosen.map((one) => expectedShare(one, n).toFixed(3))]);
  refresh("item-overlay", { name: "several" }, "Several items", (svg) => drawOverlay(svg, chosen), [[["Ability", ...chosen.map(({ name }) => name)], rows]]);
}
