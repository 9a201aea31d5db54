// Redraws the inside of the item figures. The axes along the bottom are the same for every item and stay.

const minus = (text) => text.replace("-", "\u2212");
const categoryInk = (c, categories) =>
  categories <= 2 ? data.ink.accent : data.ink.ramp[Math.floor((4 * c + Math.floor((categories - 1) / 2)) / (categories - 1))];

function pen(svg, group) {
  const [left, top, right, bottom] = svg.dataset.frame.split(" ").map(Number);
  const [low, high] = data.range;
  const add = (name, attributes, text) => {
    const node = document.createElementNS(svg.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    group.append(node);
    return node;
  };
  return {
    left, top, right, bottom,
    x: (t) => left + ((Math.min(high, Math.max(low, t)) - low) / (high - low)) * (right - left),
    y: (v, most = 1) => bottom - (Math.min(most, Math.max(0, v)) / most) * (bottom - top),
    line: (from, to, ink, width, dash) =>
      add("path", { d: `M${from}L${to}`, stroke: ink, "stroke-width": width, ...(dash && { "stroke-dasharray": dash }) }),
    curve: (points, ink) =>
      add("path", { d: "M" + points.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L"), fill: "none", stroke: ink, "stroke-width": 2, "stroke-linejoin": "round" }),
    area: (points, ink) =>
      add("path", { d: "M" + points.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L") + "Z", fill: ink, "fill-opacity": 0.14 }),
    ring: (x, y, r, ink) => add("circle", { cx: x, cy: y, r, fill: ink, "fill-opacity": 0.25, stroke: ink }),
    text: (x, y, anchor, ink, text) => add("text", { x, y, "text-anchor": anchor, fill: ink }, text),
    label: (x, y, anchor, ink, text) =>
      add("text", { x, y, "text-anchor": anchor, fill: ink, "font-weight": 600, "paint-order": "stroke", stroke: data.ink.paper, "stroke-width": 4, "stroke-linejoin": "round" }, text),
  };
}

function emptied(svg, name) {
  const group = svg.querySelector(`.${name}`);
  group.replaceChildren();
  return group;
}

function drawCurves(svg, item) {
  const draw = pen(svg, emptied(svg, "marks"));
  const categories = item.codes.length;
  const shown = categories === 2 ? [1] : [...Array(categories).keys()];
  const p = abilities.map((_, n) => probabilities(item, n));
  if (item.band) {
    const limits = abilities.map((t) => bandLimits(item, t));
    const side = (i) => abilities.map((t, n) => [draw.x(t), draw.y(limits[n][i])]);
    draw.area([...side(1), ...side(0).reverse()], data.ink.accent);
  }
  const curve = (c) => abilities.map((t, n) => [draw.x(t), draw.y(p[n][c])]);
  for (const c of shown) draw.curve(curve(c), categoryInk(c, categories));
  for (const c of shown) drawObserved(draw, item, c, categories);
  if (categories === 2) drawDifficulty(draw, item);
  else drawLabels(draw, item, p, curve);
}

// Whiskers of several categories tangle: they are drawn where they are asked for.
const whiskersShown = (item) => item.codes.length === 2 || document.getElementById("whiskers").checked;

function drawObserved(draw, item, c, categories) {
  const points = item.observed ?? [];
  const most = Math.max(...points.map((point) => point[1]));
  const ink = categoryInk(c, categories);
  // Categories side by side, so that their whiskers can be told apart.
  const aside = categories === 2 || !whiskersShown(item) ? 0 : 2.4 * (c - (categories - 1) / 2);
  for (const [ability, weight, ...shares] of points) {
    const x = draw.x(ability) + aside;
    const [low, high] = shareLimits(shares[c], weight);
    if (whiskersShown(item)) draw.line([x, draw.y(low)], [x, draw.y(high)], ink, categories === 2 ? 0.8 : 0.5);
    draw.ring(x, draw.y(shares[c]), Math.max(1.2, (categories === 2 ? 6.5 : 4.5) * Math.sqrt(weight / most)), ink);
  }
}

function drawDifficulty(draw, item) {
  if (item.b === null || item.b < data.range[0] || item.b > data.range[1]) return;
  const x = draw.x(item.b);
  draw.line([x, draw.y(0.5)], [x, draw.bottom], data.ink.text, 1, "3 3");
  const left = x > draw.right - 80;
  draw.label(left ? x - 6 : x + 6, draw.bottom - 8, left ? "end" : "start", data.ink.text, `b = ${minus(item.b.toFixed(2))}`);
}

// Each category's name at the top of its curve, a little aside if another name is there already.
function drawLabels(draw, item, p, curve) {
  const taken = [];
  item.codes.forEach((code, c) => {
    const points = curve(c);
    const order = [...points.keys()].slice(2, -2).sort((m, n) => p[n][c] - p[m][c]);
    const free = (n) => taken.every(([u, v]) => Math.abs(points[n][0] - u) > 26 || Math.abs(points[n][1] - v) > 15);
    const n = order.find(free) ?? order[0];
    taken.push(points[n]);
    const [x, y] = points[n];
    draw.label(x, y < draw.top + 18 ? y + 17 : y - 7, "middle", categoryInk(c, item.codes.length), code);
  });
}

function drawInformation(svg, item) {
  const values = abilities.map((_, n) => information(item, n));
  const raw = Math.max(...values) / 5 || 0.2;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor >= raw / power - 1e-9);
  const most = Math.ceil(Math.max(...values) / step - 1e-9) * step || 1;
  const axis = pen(svg, emptied(svg, "y-axis"));
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  for (let i = 0; i * step <= most + 1e-9; i++) {
    const y = axis.y(i * step, most);
    axis.line([axis.left, y], [axis.right, y], data.ink.rule, 1);
    axis.text(axis.left - 7, y + 4, "end", data.ink.muted, (i * step).toFixed(decimals));
  }
  const draw = pen(svg, emptied(svg, "marks"));
  draw.curve(abilities.map((t, n) => [draw.x(t), draw.y(values[n], most)]), data.ink.accent);
}
