// A private study beside one with exact sums: one site on its pages and two at the command line; what it costs, and how the fits compare.

import assert from "node:assert/strict";
import { join } from "node:path";
import { draw } from "../helpers/data.js";
import { look } from "../helpers/look.js";
import { Officer } from "../helpers/officer.js";
import { scene } from "../helpers/scene.js";
import { opensLink } from "../pages/door.js";
import { approves, approvesRoster, checks, chooses, enrols, goesOn, pastes, previews, readsRoster, setsBudget, stands } from "../pages/officer.js";
import { invites, sees } from "../pages/study.js";
import { setsUp } from "./parts/plan.js";

scene("private study", async (scene) => {
  const data = await draw(scene.folder);
  const coordinator = await scene.coordinator("--study", "bank", "--mode", "secure", "--sites", data.names.join(), "--items-from", data.file(data.names[0]), "--students", `${data.students}`);
  const ada = await scene.person(coordinator.origin, "ada");
  await opensLink(ada, coordinator.link);
  const three = await settle(scene, data, data.names, "homes");
  await enrol(three, await invites(ada, "bank"));
  await run(ada, "bank", three);

  // The same items once more, with noise. Other homes, as the ledger of a site refuses to call students private whose exact sums
  // it has given away.
  await setsUp(ada, data, { study: "bank-private", mode: "private" });
  const lines = await invites(ada, "bank-private");
  const site = await scene.site(data.names[0]);
  const olga = await scene.person(site.origin, "olga");
  await opensLink(olga, site.link);
  await spends(olga, lines.get(site.name), data);
  const two = await settle(scene, data, data.names.slice(1), "other-homes");
  await enrol(two, lines);
  await run(ada, "bank-private", two, olga);
  await looksAtPrice(olga);
  await comparesAndAccounts(ada);
});

async function settle(scene, data, names, folder) {
  const officers = names.map((site) => new Officer(join(scene.folder, folder), site, data.file(site)));
  for (const officer of officers) await officer.settles();
  return officers;
}

async function enrol(officers, lines) {
  for (const officer of officers) {
    const { status, stdout, stderr } = await officer.enrols(lines.get(officer.site));
    assert.equal(status, 0, stdout + stderr);
  }
}

async function run(ada, study, officers, olga) {
  const joining = officers.map((officer) => officer.joins(study));
  const fingerprints = await Promise.all(olga ? [readsRoster(olga), ...joining] : joining);
  assert.equal(new Set(fingerprints).size, 1, "every site sees the same roster");
  await ada.goes(`/studies/${study}`);
  await sees(ada, "Sites compare and sign the roster");
  const programs = officers.map((officer) => officer.approves(study, fingerprints[0], officers.map(({ site }) => site)));
  if (olga) await approvesRoster(olga);
  for (const program of programs) assert.equal(await program.ended, 0, program.said);
  await sees(ada, "Finished");
  if (olga) await stands(olga, "Finished").waitFor();
}

/** The officer sets a budget with her approval. */
async function spends(olga, line, data) {
  const { page } = olga;
  await pastes(olga, line);
  assert.match(await page.locator("dl.lines").innerText(), /ε/);
  await look(olga, "officer-invitation-private");
  await enrols(olga);
  await chooses(olga, "bank-private", data.file(data.names[0]));
  assert.equal(await page.getByLabel("Column of weights").count(), 0, "noise knows no weights");
  await checks(olga);
  await previews(olga);
  await page.locator("main details summary").first().click();
  assert.match(await page.locator("main details").first().innerText(), /never sent, and not shown/);
  await look(olga, "officer-preview-private");
  await goesOn(olga);
  await setsBudget(olga, 2);
  await look(olga, "officer-approve-private");
  await approves(olga, { by: "Olga Öst", asked: "once" });
}

async function looksAtPrice(olga) {
  await olga.goes("/ledger");
  assert.match(await olga.page.locator("main dl").innerText(), /(ε|epsilon) = 1\.00 of 2 is spent/);
  await look(olga, "officer-ledger-private");
  await olga.goes("/studies/bank-private/results");
  await look(olga, "officer-results-private");
}

async function comparesAndAccounts(ada) {
  const { page } = ada;
  await ada.goes("/");
  assert.equal(await page.locator("tbody tr").count(), 2);
  await look(ada, "studies");

  await ada.goes("/studies/bank-private");
  assert.match(await page.locator("#live-now").innerText(), /would depend on answers/);
  await ada.goes("/studies/bank-private/results");
  await look(ada, "results-private");

  await ada.goes("/studies/bank/compare");
  await page.getByLabel("Another study of this coordinator").selectOption("bank-private");
  await ada.follows(page.getByRole("button", { name: "Compare" }).first());
  assert.match(await page.locator("main").innerText(), /12 items are in both/);
  await look(ada, "compare");
  await page.getByLabel("Link the other fit's scale").first().selectOption("haebara");
  await ada.follows(page.getByRole("button", { name: "Compare" }).first());
  assert.match(await page.locator("main").innerText(), /Linked by haebara: an ability t of the other fit is \d\.\d+ · t/);
  await look(ada, "compare-linked");

  await ada.goes("/studies/bank-private/privacy");
  assert.match(await page.getByRole("region", { name: "Releases" }).innerText(), /Round 2/);
  await look(ada, "privacy");
  await page.getByLabel("At these ε").fill("0.5, 1, 4");
  await ada.follows(page.getByRole("button", { name: "Compute" }));
  assert.ok(await page.locator("#what-if figure").isVisible());
  await look(ada, "what-if");
}
