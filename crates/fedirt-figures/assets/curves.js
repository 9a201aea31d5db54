// The curves of items at `abilities`, from what the program sends: the script knows no item models by name.

// A page without items has no data, and nothing to draw from them.
const data = JSON.parse(document.getElementById("data")?.textContent ?? '{ "points": 0, "range": [0, 0], "items": [] }');
const abilities = Array.from(
  { length: data.points },
  (_, n) => data.range[0] + ((data.range[1] - data.range[0]) * n) / (data.points - 1),
);
const logistic = (x) => 1 / (1 + Math.exp(-x));

// P(x = c) for every category c at the n-th ability. Where the model is linear, categories have a slope and an
// intercept each; otherwise their curves are tabulated, and the lowest category is what the others leave.
function probabilities(item, n) {
  if (!item.curves.lines) {
    const above = item.curves.p.map((curve) => curve[n] / 1000);
    return [Math.max(0, 1 - above.reduce((sum, p) => sum + p, 0)), ...above];
  }
  const logits = item.curves.lines.map(([slope, intercept]) => slope * abilities[n] + intercept);
  const top = Math.max(...logits);
  const weights = logits.map((x) => Math.exp(x - top));
  const total = weights.reduce((sum, w) => sum + w, 0);
  return weights.map((w) => w / total);
}

// Fisher information about ability at the n-th ability: the variance of the slopes, where the model is linear.
function information(item, n) {
  if (!item.curves.lines) return item.curves.information[n];
  const p = probabilities(item, n);
  const slopes = item.curves.lines.map(([slope]) => slope);
  const mean = p.reduce((sum, pc, c) => sum + slopes[c] * pc, 0);
  return p.reduce((sum, pc, c) => sum + pc * (slopes[c] - mean) ** 2, 0);
}

const Z = 1.959963984540054;

// 95 % limits of the curve of a binary item, on the logit.
function bandLimits(item, t) {
  const [a, d, varA, cov, varD] = item.band;
  const half = Z * Math.sqrt(Math.max(0, t * t * varA + 2 * t * cov + varD));
  return [logistic(a * t + d - half), logistic(a * t + d + half)];
}

// Wilson's 95 % limits of a share.
function shareLimits(share, weight) {
  const z2 = (Z * Z) / weight;
  const centre = (share + z2 / 2) / (1 + z2);
  const half = (Z / (1 + z2)) * Math.sqrt((share * (1 - share)) / weight + z2 / (4 * weight));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}
