// An officer who reads everything on the way from the invitation to the approval.

import assert from "node:assert/strict";
import { look } from "../../helpers/look.js";
import { approves, checks, chooses, enrols, goesOn, pastes, previews, stands } from "../../pages/officer.js";

export async function joinsWithCare(olga, line, study, data, approval) {
  const { page } = olga;
  assert.match(await page.locator("main").innerText(), /takes part in no study yet/);
  await look(olga, "officer-no-study");
  await pastes(olga, line);
  assert.equal(await olga.heading(), `Invitation to ${study}`);
  assert.match(await page.locator("main").innerText(), /Nothing has left this computer[\s\S]*own rules allow it/);
  await look(olga, "officer-invitation");
  await enrols(olga);
  assert.match(await page.getByText("Enrolled.").locator("..").innerText(), /Read its fingerprint/);
  await look(olga, "officer-enrolled");
  for (const part of ["plan", "running", "results", "sent"]) {
    await olga.goes(`/studies/${study}/${part}`);
    await look(olga, `officer-${part}-before`);
  }
  const site = data.names[0];
  await olga.goes(`/studies/${study}/file`);
  await look(olga, "officer-file");
  assert.equal(await chooses(olga, study, data.file(site)), undefined);
  assert.equal(await page.getByLabel("Column that identifies a student").inputValue(), "id");
  await look(olga, "officer-columns");
  await checks(olga);
  assert.match(await page.locator("ul.checks").innerText(), /200 students[\s\S]*12 of the plan's 12 items/);
  assert.equal(await page.locator("figure").count(), 3);
  await look(olga, "officer-check");
  await previews(olga);
  await looksAtNumbers(olga);
  await goesOn(olga);
  await look(olga, "officer-approve");
  await approves(olga, approval);
  await stands(olga, "Taking part").waitFor();
  await page.getByText("waiting for the other sites").waitFor();
  await look(olga, "officer-waiting");
}

/** Each number that would leave, beside what it is computed from. */
async function looksAtNumbers({ page, ...olga }) {
  const first = page.locator("main details").first();
  await first.locator("summary").click();
  const [own, leaves] = await first.locator("tbody tr").first().locator("td:nth-child(n+2)").allInnerTexts();
  assert.match(own, /\d/);
  assert.notEqual(own, leaves, "it leaves under a mask");
  await look({ page, ...olga }, "officer-preview");
}
