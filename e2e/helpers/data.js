// Simulated answers, one file per site.

import { join } from "node:path";
import { done } from "./program.js";

/** Draws files for sites site01, site02, …; their names and paths. */
export async function draw(folder, { sites = 3, students = 200, items = 12, seed = 1 } = {}) {
  const out = join(folder, "data");
  await done("simulate", "--sites", `${sites}`, "--students", `${students}`, "--items", `${items}`, "--seed", `${seed}`, "--per-site", "--out", out);
  const names = Array.from({ length: sites }, (_, n) => `site${`${n + 1}`.padStart(2, "0")}`);
  return { folder: out, names, students: sites * students, items, file: (name) => join(out, `${name}.csv`) };
}
