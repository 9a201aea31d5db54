// The item models in the browser: what the viewer draws from (a, d).

const data = JSON.parse(document.getElementById("data").textContent);
const abilities = Array.from(
  { length: data.points },
  (_, n) => data.range[0] + ((data.range[1] - data.range[0]) * n) / (data.points - 1),
);
const logistic = (x) => 1 / (1 + Math.exp(-x));

// P(x = c) for every category c at ability t.
function probabilities(item, t) {
  const [a, ...d] = item.psi;
  if (item.graded) {
    const above = [1, ...d.map((step) => logistic(a * t + step)), 0];
    return above.slice(0, -1).map((p, c) => p - above[c + 1]);
  }
  const logits = [0, ...d.map((step, c) => (c + 1) * a * t + step)];
  const top = Math.max(...logits);
  const weights = logits.map((x) => Math.exp(x - top));
  const total = weights.reduce((sum, w) => sum + w, 0);
  return weights.map((w) => w / total);
}

// Fisher information about ability.
function information(item, t) {
  const [a, ...d] = item.psi;
  const p = probabilities(item, t);
  if (item.graded) {
    const above = [1, ...d.map((step) => logistic(a * t + step)), 0];
    return p.reduce((sum, pc, c) => sum + pc * (a * (1 - above[c] - above[c + 1])) ** 2, 0);
  }
  const mean = p.reduce((sum, pc, c) => sum + c * pc, 0);
  return a * a * p.reduce((sum, pc, c) => sum + pc * (c - mean) ** 2, 0);
}

const Z = 1.959963984540054;

// 95 % limits of the curve of a binary item, on the logit.
function bandLimits(item, t) {
  const [a, d] = item.psi;
  const [varA, cov, varD] = item.cov;
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
