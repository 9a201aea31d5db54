// A psychometrician and three sites, from nothing to results, over TLS.

import assert from "node:assert/strict";
import { join } from "node:path";
import { draw } from "../helpers/data.js";
import { eventually } from "../helpers/eventually.js";
import { look } from "../helpers/look.js";
import { Officer } from "../helpers/officer.js";
import { scene } from "../helpers/scene.js";
import { appears } from "../pages/live.js";
import { opensLink } from "../pages/door.js";
import { asksWhatFollows, fills, writes } from "../pages/setup.js";
import { invites, sees } from "../pages/study.js";
import { looksAtResults } from "./parts/results.js";
import { takesEverythingAway } from "./parts/downloads.js";

scene("whole study", async (scene) => {
  const data = await draw(scene.folder);
  const coordinator = await scene.coordinator();
  const ada = await scene.person(coordinator.origin, "ada");
  await opensLink(ada, coordinator.link);

  await setsUp(ada, data, { study: "bank", mode: "secure" });
  await runs(ada, await settle(scene, data, "homes"), "bank", true);
  await looksAtResults(ada, "bank", data);
  await takesEverythingAway(ada, "bank", data);

  // The same items once more, with noise: what private releases, and how the two fits compare. Other homes, as the ledger of a
  // site refuses to call students private whose exact sums it has given away.
  await setsUp(ada, data, { study: "bank-private", mode: "private" });
  await runs(ada, await settle(scene, data, "other-homes"), "bank-private", false);
  await comparesAndAccounts(ada);
});

async function settle(scene, data, folder) {
  const officers = data.names.map((site) => new Officer(join(scene.folder, folder), site, data.file(site)));
  for (const officer of officers) await officer.settles();
  return officers;
}

async function setsUp(ada, data, { study, mode }) {
  await ada.goes("/new");
  if (mode === "secure") await look(ada, "set-up");
  const plan = { study, mode, purpose: "A common item bank for three districts", sites: data.names, students: data.students, file: data.file(data.names[0]), colluders: 1 };
  await fills(ada, plan);
  await asksWhatFollows(ada);
  const follows = ada.page.locator("#follows");
  assert.match(await follows.innerText(), mode === "private" ? /ε/ : /Mode secure/);
  assert.equal(await follows.locator("figure").count(), mode === "private" ? 1 : 0, "expected standard errors by ε");
  await look(ada, `what-follows-${mode}`);
  await writes(ada);
  assert.equal(await ada.heading(), study);
}

async function runs(ada, officers, study, closely) {
  const { page } = ada;
  await ada.goes(`/studies/${study}`);
  if (closely) await look(ada, "nobody-has-joined");
  if (closely) {
    await ada.goes(`/studies/${study}/invite`);
    await look(ada, "invite");
  }
  const lines = await invites(ada, study);
  if (closely) await look(ada, "invitations");
  assert.deepEqual([...lines.keys()], officers.map(({ site }) => site));
  for (const officer of officers) {
    const { status, stdout, stderr } = await officer.enrols(lines.get(officer.site));
    assert.equal(status, 0, stdout + stderr);
  }

  await ada.goes(`/studies/${study}/roster`);
  if (closely) await look(ada, "roster-enrolled");
  const fingerprints = await Promise.all(officers.map((officer) => officer.joins(study)));
  assert.equal(new Set(fingerprints).size, 1, "every site sees the same roster");
  // The page updates itself.
  await appears(ada, page.locator("#roster-now .note code", { hasText: fingerprints[0] }));
  if (closely) await look(ada, "roster-joined");

  await ada.goes(`/studies/${study}`);
  await sees(ada, "Sites compare and sign the roster");
  const programs = officers.map((officer) => officer.approves(study, fingerprints[0]));
  if (closely) await watchesRounds(ada, programs[2]);
  for (const program of programs) assert.equal(await program.ended, 0, program.said);
  await sees(ada, "Finished");
  if (closely) await look(ada, "finished");
}

/** Rounds as they go by. One site is held back for a while, so that there is something to see. */
async function watchesRounds(ada, slow) {
  const { page } = ada;
  await slow.says(/round 2, attempt 1: answered/);
  slow.signal("SIGSTOP");
  await appears(ada, page.locator("#convergence .drawing"));
  await appears(ada, page.locator("#live-now h2", { hasText: "Waiting for 1" }));
  const rounds = page.locator("#live-now dt", { hasText: "Complete" }).locator("xpath=following-sibling::dd");
  await eventually("two rounds are complete", async () => Number.parseInt(await rounds.innerText(), 10) >= 2);
  assert.match(await page.locator("#live-now").innerText(), /Slowest items in the last round: i\d+/);
  await look(ada, "rounds");
  for (const what of ["end", "drop"]) {
    await ada.goes(`/studies/bank/${what}`);
    await look(ada, `confirm-${what}`);
    await ada.follows(page.getByRole("link", { name: "Do nothing" }));
  }
  slow.signal("SIGCONT");
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

  await ada.goes("/studies/bank-private/privacy");
  assert.match(await page.getByRole("region", { name: "Releases" }).innerText(), /Round 2/);
  await look(ada, "privacy");
  await page.getByLabel("At these ε").fill("0.5, 1, 4");
  await ada.follows(page.getByRole("button", { name: "Compute" }));
  assert.ok(await page.locator("#what-if figure").isVisible());
  await look(ada, "what-if");
}
