// Every item's curves in small, drawn when they are asked for: on opening the gallery, and before the page is printed.

const gallery = document.getElementById("gallery");
const SMALL = { width: 168, height: 112 };

function smallCurves(item, index) {
  const cell = document.createElement("div");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${SMALL.width} ${SMALL.height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Characteristic curves of ${item.name}`);
  svg.dataset.frame = `6 4 ${SMALL.width - 6} ${SMALL.height - 16}`;
  const name = document.createElement("p");
  name.textContent = item.name;
  cell.append(name, svg);
  if (item.why) {
    name.title = item.why;
    return cell;
  }
  const group = document.createElementNS(svg.namespaceURI, "g");
  group.setAttribute("font-size", "9");
  svg.append(group);
  const draw = pen(svg, group);
  for (const y of [0, 0.5, 1]) draw.line([draw.left, draw.y(y)], [draw.right, draw.y(y)], data.ink.rule, 1);
  const [low, high] = data.range;
  for (let t = Math.ceil(low); t <= high; t += 1) {
    if (t % 2 === 0) draw.text(draw.x(t), SMALL.height - 4, "middle", data.ink.muted, minus(`${t}`));
  }
  const categories = item.codes.length;
  for (const c of categories === 2 ? [1] : item.codes.keys()) {
    draw.curve(abilities.map((t, n) => [draw.x(t), draw.y(probabilities(item, n)[c])]), categoryInk(c, categories));
    for (const [ability, weight, ...shares] of item.observed ?? []) {
      if (weight >= 1) draw.ring(draw.x(ability), draw.y(shares[c]), 1.4, categoryInk(c, categories));
    }
  }
  svg.addEventListener("click", () => {
    choose(index);
    viewer.scrollIntoView({ block: "start" });
  });
  return cell;
}

function fillGallery() {
  const inside = gallery?.querySelector(".gallery");
  if (inside && !inside.firstChild) inside.append(...data.items.map(smallCurves));
}

gallery?.addEventListener("toggle", fillGallery);
