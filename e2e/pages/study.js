// The pages of one study at the coordinator.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Invites every site that is ticked; the lines to hand over, by site. */
export async function invites(person, study) {
  const { page } = person;
  await page.goto(`/studies/${study}/invite`);
  await person.follows(page.getByRole("button", { name: "Make invitations" }));
  const lines = new Map();
  for (const section of await page.locator("section.page-of-its-own").all()) {
    lines.set(await section.locator("h3").innerText(), (await section.locator(".invitation").innerText()).trim());
  }
  return lines;
}

/** Waits, on the page that updates itself, until the study is in a state. */
export async function sees(person, state) {
  await person.page.locator("#live-now h2.state", { hasText: state }).waitFor({ timeout: 60_000 });
}

/** Downloads a file of the study; its bytes. */
export async function downloads({ page, folder }, study, file) {
  await page.goto(`/studies/${study}/download`);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: file, exact: true }).click(),
  ]);
  const path = join(folder, "downloads", download.suggestedFilename());
  await download.saveAs(path);
  return { path, name: download.suggestedFilename(), bytes: await readFile(path) };
}
