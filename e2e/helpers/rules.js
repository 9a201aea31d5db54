// A site's own rules, in its policy.toml.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Changes a line of the rules of a home. */
export async function setRule(home, name, value) {
  const path = join(home, "policy.toml");
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace(new RegExp(`^${name} = .*$`, "m"), `${name} = ${value}`));
}
