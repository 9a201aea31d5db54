// A fit of any size, with numbers that look like some: to make one from answers would take minutes.

const wave = (n) => Math.sin(0.7 * n);
const numbers = (count, make) => Array.from({ length: count }, (_, n) => make(n));
const named = (kind, n) => `${kind}${`${n}`.padStart(3, "0")}`;

const item = (n) => {
  const [a, b] = [1.2 + 0.5 * wave(n), 2 * wave(3 * n)];
  return { name: named("item", n), model: "2pl", categories: 2, codes: [0, 1], a, d: [-a * b], b: [b], se_a: 0.1, se_d: [0.08], se_b: [0.09], n: 10_000, fixed: false };
};

/** `template` is the fit.json of a small study: what is not a table stays as it is there. */
export function enlarged(template, items, sites) {
  const site = (n) => ({ name: named("site", n), n: 200, effect: 0.4 * wave(n), se: 0.1 });
  return { ...template, items: numbers(items, item), sites: numbers(sites, site), n: 200 * sites, npar: 2 * items + sites - 1, curves: null, ability_histogram: null };
}
