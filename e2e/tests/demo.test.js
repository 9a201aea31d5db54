// The demonstration runs to its end before the eyes of a visitor.

import assert from "node:assert/strict";
import { join } from "node:path";
import { look } from "../helpers/look.js";
import { Program } from "../helpers/program.js";
import { scene } from "../helpers/scene.js";
import { opensLink } from "../pages/door.js";
import { stands } from "../pages/officer.js";
import { sees } from "../pages/study.js";

scene("demonstration", async (scene) => {
  const program = new Program("demo", "--wait", "1", "--pace", "0.3", "--out", join(scene.folder, "demo"));
  await program.says(/Ctrl\+C ends it/);
  const links = new Map([...program.said.matchAll(/^ +(?:site )?(\w+) +(http:\S+)/gm)].map(([, name, link]) => [name, link]));
  assert.deepEqual([...links.keys()], ["coordinator", "north", "south", "west"]);
  const visitors = new Map();
  for (const [name, link] of links) {
    const visitor = await scene.person(new URL(link).origin, name);
    await opensLink(visitor, link);
    // A school has no study until it has accepted its invitation.
    if (name === "coordinator") await visitor.goes("/studies/reading");
    visitors.set(name, visitor);
  }
  const coordinator = visitors.get("coordinator");
  visitors.delete("coordinator");
  await sees(coordinator, "Finished");
  await look(coordinator, "coordinator-finished");
  for (const [name, visitor] of visitors) {
    await visitor.goes("/studies/reading/running");
    await stands(visitor, "Finished").waitFor();
    await visitor.goes("/studies/reading/results");
    assert.ok((await visitor.page.locator("#scores-table tbody tr").count()) > 0, name);
  }
  await look(visitors.get("north"), "site-results");
  assert.ok([0, "SIGINT", 130].includes(await program.stop()));
});
