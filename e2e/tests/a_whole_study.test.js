// A psychometrician and three officers, each on their own pages, from nothing to results, over TLS. Files run in the order of their
// names: the longest first.

import assert from "node:assert/strict";
import { draw } from "../helpers/data.js";
import { eventually } from "../helpers/eventually.js";
import { look } from "../helpers/look.js";
import { scene } from "../helpers/scene.js";
import { opensLink } from "../pages/door.js";
import { answer, answersAll, approvesRoster, readsRoster, stands, takesPart } from "../pages/officer.js";
import { invites, sees } from "../pages/study.js";
import { takesEverythingAway } from "./parts/downloads.js";
import { joinsWithCare } from "./parts/joining.js";
import { looksAtOwn, takesOwnAway } from "./parts/officers_results.js";
import { setsUp } from "./parts/plan.js";
import { looksAtResults } from "./parts/results.js";

const STUDY = "bank";
// Each in a way of her own: every round by hand, none, and by hand after the second.
const APPROVALS = [{ by: "Olga Öst", asked: "each_round" }, { by: "Otto West", asked: "once" }, { by: "Oda Nord", asked: "rounds", rounds: 2 }];

scene("whole study", async (scene) => {
  const data = await draw(scene.folder);
  const coordinator = await scene.coordinator();
  const ada = await scene.person(coordinator.origin, "ada");
  await opensLink(ada, coordinator.link);
  await setsUp(ada, data, { study: STUDY, mode: "secure" });
  const lines = await invitesAll(ada, data);

  const officers = [];
  for (const name of data.names) {
    const site = await scene.site(name);
    const officer = await scene.person(site.origin, `officer-${name}`);
    await opensLink(officer, site.link);
    officers.push(officer);
  }
  const [olga, ...others] = officers;
  await joinsWithCare(olga, lines.get(data.names[0]), STUDY, data, APPROVALS[0]);
  await ada.goes(`/studies/${STUDY}/roster`);
  await look(ada, "roster-one-joined");
  await Promise.all(others.map((officer, n) => takesPart(officer, lines.get(data.names[n + 1]), STUDY, data.file(data.names[n + 1]), APPROVALS[n + 1])));

  await comparesRoster(ada, officers);
  await watchesRounds(ada, officers);
  await sees(ada, "Finished");
  await look(ada, "finished");
  for (const officer of officers) await stands(officer, "Finished").waitFor();
  await look(olga, "officer-finished");

  await looksAtResults(ada, STUDY, data);
  const fit = await takesEverythingAway(ada, STUDY, data);
  const taken = [];
  for (const [n, officer] of officers.entries()) taken.push(await takesOwnAway(officer, data.names[n], STUDY, data, fit));
  assert.equal(new Set(taken.map(({ sent }) => sent)).size, 1, "all sites have answered the same rounds");
  await looksAtOwn(olga, STUDY, taken[0]);
}, 300_000);

async function invitesAll(ada, data) {
  await ada.goes(`/studies/${STUDY}`);
  await look(ada, "nobody-has-joined");
  await ada.goes(`/studies/${STUDY}/invite`);
  await look(ada, "invite");
  const lines = await invites(ada, STUDY);
  await look(ada, "invitations");
  assert.deepEqual([...lines.keys()], data.names);
  assert.match(await ada.page.locator("#message-1").textContent(), /Subject: Invitation of site01[\s\S]*good for one enrolment/);
  await asksBeforeItVoids(ada);
  return lines;
}

/** A second invitation would make the first one invalid: that is asked, and the first one stays good. */
async function asksBeforeItVoids(ada) {
  const { page } = ada;
  await ada.goes(`/studies/${STUDY}/invite`);
  assert.equal(await page.locator("input[name=site]:checked").count(), 0, "everybody has an invitation");
  await page.locator("input[name=site]").first().check();
  await ada.follows(page.getByRole("button", { name: "Make invitations" }));
  assert.match(await page.locator(".warn").innerText(), /site01: the invitation that it has becomes invalid/);
  await look(ada, "invite-again");
  await ada.goes(`/studies/${STUDY}`);
  assert.ok(await page.getByRole("button", { name: "Begin with the sites that have joined" }).isDisabled(), "nobody has joined");
  assert.match(await page.locator("#why-not").innerText(), /0 of 3 sites have joined, and 3 may still come/);
  await look(ada, "all-invited");
}

/** Everybody sees the same fingerprint, without loading a page again. */
async function comparesRoster(ada, officers) {
  const fingerprints = await Promise.all(officers.map(readsRoster));
  assert.equal(new Set(fingerprints).size, 1, "every site sees the same roster");
  await ada.page.locator("#roster-now .note code", { hasText: fingerprints[0] }).waitFor();
  await look(ada, "roster-joined");
  await look(officers[0], "officer-roster");
  await ada.goes(`/studies/${STUDY}`);
  await sees(ada, "Sites compare and sign the roster");
  for (const officer of officers) await approvesRoster(officer);
}

/** Rounds as they go by on both sides: they wait for the officer who answers each by hand. */
async function watchesRounds(ada, [olga, otto, oda]) {
  const { page } = ada;
  for (let round = 1; round <= 2; round += 1) {
    await answer(olga).waitFor();
    assert.match(await olga.page.locator("#running-live").innerText(), new RegExp(`round ${round}\\b.*waits for you`, "i"));
    if (round === 1) await look(olga, "officer-round");
    await olga.follows(answer(olga));
  }
  // From the third round on it is asked for twice.
  await Promise.all([answer(olga).waitFor(), answer(oda).waitFor()]);
  await stands(otto, "Taking part").waitFor();
  await look(otto, "officer-taking-part");
  await page.locator("#convergence .drawing").waitFor();
  await page.locator("#live-now h2", { hasText: "Waiting for 2" }).waitFor();
  const rounds = page.locator("#live-now dt", { hasText: "Complete" }).locator("xpath=following-sibling::dd");
  await eventually("two rounds are complete", async () => Number.parseInt(await rounds.innerText(), 10) >= 2);
  assert.match(await page.locator("#live-now").innerText(), /Slowest items in the last round: i\d+/);
  await look(ada, "rounds");
  for (const what of ["end", "drop"]) {
    await ada.goes(`/studies/${STUDY}/${what}`);
    await look(ada, `confirm-${what}`);
    await ada.follows(page.getByRole("link", { name: "Cancel" }));
  }
  const answered = await Promise.all([olga, oda].map(answersAll));
  assert.ok(answered[0] > 0 && answered[0] === answered[1], `by hand: ${answered}`);
}
