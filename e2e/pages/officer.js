// What an officer does on the site's own pages, from an invitation to the results.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Pastes an invitation. */
export async function pastes(person, line) {
  await person.goes("/");
  await person.page.getByLabel("Invitation").fill(line);
  await person.follows(person.page.getByRole("button", { name: "Read the plan" }));
}

/** Approves the plan that is shown. */
export async function enrols(person) {
  await person.follows(person.page.getByRole("button", { name: "Approve this plan and enrol" }));
}

/** Chooses a file; what the page says if it does not take it. */
export async function chooses(person, study, file) {
  const { page } = person;
  await person.goes(`/studies/${study}/file`);
  await page.getByLabel("Choose the file").setInputFiles(file);
  const said = page.locator("#answers-said", { hasNotText: /^(Reading .*)?$/ });
  const next = page.getByRole("heading", { name: "What the columns are" });
  await said.or(next).waitFor();
  return (await next.count()) ? undefined : said.innerText();
}

/** Leaves open which column has the answers to an item. */
export async function leavesOpen({ page }, item) {
  await page.locator("#items").getByLabel(item, { exact: true }).selectOption({ label: "please choose" });
}

/** Says which column has the answers to an item. */
export async function maps({ page }, item, column) {
  await page.locator("#items").getByLabel(item, { exact: true }).selectOption({ label: column });
}

/** Says that a text of the file means no answer: in the list, or typed where it is not listed. */
export async function declaresMissing({ page }, code) {
  const listed = page.locator(`input[name=no-answer][value="${code}"]`);
  if (await listed.count()) await listed.check();
  else await page.getByLabel("codes that mean").fill(code);
}

/** Gives the right options. */
export async function fillsKey({ page }, key) {
  await page.getByRole("radio", { name: /options that were chosen/ }).check();
  await page.getByLabel("Answer key").fill(key);
}

/** Sets another budget than the recommended ones. */
export async function setsBudget({ page }, epsilon) {
  await page.getByRole("radio", { name: "Another budget" }).check();
  await page.getByLabel("ε", { exact: true }).fill(`${epsilon}`);
}

/** Takes the columns as they were found, and has the file checked. */
export async function checks(person) {
  await person.follows(person.page.getByRole("button", { name: "Check the file" }));
}

/** Goes on from the check to what will be sent. */
export async function previews(person) {
  await person.follows(person.page.getByRole("link", { name: "See what will be sent" }));
}

/** Goes on from there to the approval. */
export async function goesOn(person) {
  await person.follows(person.page.getByRole("link", { name: "Go on to approve" }));
}

const ASKED = { once: "Once: all rounds", each_round: "Before each round", rounds: "Up to a number of rounds" };

/** Approves: `asked` says how often to be asked, `rounds` up to which number not to be. */
export async function approves(person, { by, asked, rounds }) {
  const { page } = person;
  await page.getByRole("radio", { name: ASKED[asked] }).check();
  if (rounds) await page.getByRole("spinbutton", { name: "Number of rounds" }).fill(`${rounds}`);
  await page.getByLabel(/^(New name|Name)$/).fill("pupils of this year");
  await page.getByLabel("Your name").fill(by);
  await person.follows(page.getByRole("button", { name: "Approve, and take part" }));
}

/** All of it without looking left or right. */
export async function takesPart(person, line, study, file, approval) {
  await pastes(person, line);
  await enrols(person);
  await chooses(person, study, file);
  await checks(person);
  await previews(person);
  await goesOn(person);
  await approves(person, approval);
}

/** Writes a reason to withdraw, for the coordinator and the other sites too. */
export async function givesReason({ page }, reason) {
  await page.getByLabel("Reason", { exact: true }).fill(reason);
  await page.getByLabel("Tell the reason to the coordinator").check();
}

/** The heading that says where the study stands, on the page that updates itself. */
export function stands({ page }, state) {
  return page.locator("#running-live h2.state", { hasText: state });
}

/** The roster's fingerprint, when it is there. */
export async function readsRoster({ page }) {
  return (await page.locator("#roster-fingerprint").innerText()).trim();
}

export async function approvesRoster(person) {
  for (const called of await person.page.getByLabel("I have called").all()) await called.check();
  await person.follows(person.page.getByRole("button", { name: "Approve the roster" }));
}

/** The button that a round waits for. */
export function answer({ page }) {
  return page.getByRole("button", { name: "Answer this round" });
}

/** Answers every round that is asked for until the study is finished; how many there were. */
export async function answersAll(person) {
  const finished = stands(person, "Finished");
  for (let rounds = 0; ; rounds += 1) {
    await answer(person).or(finished).waitFor({ timeout: 60_000 });
    if (await finished.count()) return rounds;
    await person.follows(answer(person));
  }
}

/** Saves a file of the results; its bytes. */
export async function saves({ page, folder, name }, study, file) {
  await page.goto(`/studies/${study}/results`);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: file, exact: true }).click(),
  ]);
  const path = join(folder, "downloads", name, download.suggestedFilename());
  await download.saveAs(path);
  return readFile(path, "utf8");
}
