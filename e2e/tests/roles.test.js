// What an auditor and an analyst may: look at everything; change nothing.

import assert from "node:assert/strict";
import { draw } from "../helpers/data.js";
import { look } from "../helpers/look.js";
import { scene } from "../helpers/scene.js";
import { logsIn } from "../pages/door.js";

scene("roles", async (scene) => {
  const data = await draw(scene.folder);
  const coordinator = await scene.coordinator("--study", "bank", "--sites", data.names.join(), "--items-from", data.file(data.names[0]), "--students", `${data.students}`);

  const auditor = await scene.person(coordinator.origin, "auditor");
  auditor.excuses(/status of 40[34]/);
  await logsIn(auditor, await coordinator.admit("odile", "auditor"));
  assert.equal(await auditor.page.getByRole("link", { name: "Set up a study" }).count(), 0);
  for (const part of ["", "/roster", "/compare", "/privacy", "/plan", "/download"]) {
    assert.equal(await auditor.goes(`/studies/bank${part}`), 200, part);
    assert.deepEqual(await forms(auditor), ["/logout"], `no form on ${part || "the study's page"}`);
    await look(auditor, `auditor${part.replace("/", "-") || "-study"}`);
  }
  for (const path of ["/new", "/studies/bank/invite", "/studies/bank/begin", "/studies/bank/drop", "/studies/bank/end"]) {
    assert.equal(await auditor.goes(path), 403, path);
  }
  assert.match(await auditor.page.locator("main").innerText(), /logged in as odile \(auditor\).*Nothing was done/s);
  await look(auditor, "forbidden");
  assert.equal(await auditor.goes("/studies/bank/results"), 404);
  await look(auditor, "no-results-yet");

  const analyst = await scene.person(coordinator.origin, "analyst");
  analyst.excuses(/status of 403/);
  await logsIn(analyst, await coordinator.admit("anil", "analyst"));
  await analyst.goes("/new");
  assert.equal(await analyst.page.getByRole("button", { name: "Write the plan" }).count(), 0);
  assert.equal(await analyst.goes("/studies/bank/end"), 403);
});

/** Where the forms of the page lead. */
function forms({ page }) {
  return page.evaluate(() => [...document.forms].map((form) => new URL(form.action).pathname));
}
