// The officer's own results: on the page, as files, and in the records.

import assert from "node:assert/strict";
import { look } from "../../helpers/look.js";
import { saves } from "../../pages/officer.js";

/** `fit` is the coordinator's. */
export async function takesOwnAway(person, site, study, data, fit) {
  const own = JSON.parse(await saves(person, study, "fit.json"));
  assert.deepEqual({ ...own, warnings: undefined }, { ...fit, warnings: undefined }, "the same fit everywhere");
  const place = JSON.parse(await saves(person, study, "own_place.json"));
  assert.equal(place.site, site);
  assert.ok(Number.isFinite(place.effect) && place.se > 0);
  const scores = (await saves(person, study, "scores.csv")).trim().split("\n");
  assert.equal(scores.length, data.students / data.names.length + 1);
  assert.match(scores[1], new RegExp(`^s\\d+,${site},`));
  const lines = (await saves(person, study, "transcript.jsonl")).trim().split("\n").map((line) => JSON.parse(line));
  const sent = lines.filter(({ kind }) => kind === "upload").length;
  assert.ok(sent >= 3, `${sent} rounds`);
  return { place, scores, sent };
}

/** Looks at all that there is in the end. */
export async function looksAtOwn(olga, study, { place, scores }) {
  const { page } = olga;
  await olga.goes(`/studies/${study}`);
  await look(olga, "officer-steps-done");
  await olga.follows(page.locator("#overview-live .button.primary"));
  assert.match(new URL(page.url()).pathname, /\/results$/);
  assert.ok((await page.locator("main").innerText()).includes(Math.abs(place.effect).toFixed(2)), "its place in words");
  assert.equal(await page.locator("#scores-table tbody tr").count(), scores.length - 1);
  await page.getByLabel("Find a student").fill(scores[7].split(",")[0]);
  assert.ok((await page.locator("#scores-table tbody tr:visible").count()) < scores.length - 1);
  await page.getByLabel("Item", { exact: true }).selectOption("i05");
  await olga.follows(page.getByRole("button", { name: "Show its curve" }));
  assert.match(await page.locator("figure", { hasText: "i05" }).first().innerText(), /i05/);
  await look(olga, "officer-results");
  await olga.goes(`/studies/${study}/sent`);
  assert.match(await page.locator("#sent-live").innerText(), /No answer of a student is among them/);
  await look(olga, "officer-sent");
  await olga.goes(`/studies/${study}/file`);
  assert.match(await page.locator("main").innerText(), /can no longer be changed/);
  await look(olga, "officer-file-fixed");
  for (const [path, heading] of [["", "Studies of this site"], ["log", "Audit log"], ["ledger", "Privacy ledger"], ["rules", "This site's rules"]]) {
    await olga.goes(`/${path}`);
    assert.equal(await olga.heading(), heading);
    await look(olga, `officer-${path || "studies"}`);
  }
}
