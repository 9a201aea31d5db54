// The pages of results.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { look } from "../../helpers/look.js";
import { choosesItem, laysOver, opensGallery } from "../../pages/results.js";

export async function looksAtResults(ada, study, data) {
  await items(ada, study, data);
  await oneItem(ada, study);
  for (const [part, heading] of [["check", "Is the model right"], ["test", "Test"], ["sites", "Sites"], ["summary", "Summary"]]) {
    await ada.goes(`/studies/${study}/results/${part}`);
    assert.match(await ada.page.locator("main h2").first().innerText(), new RegExp(heading, "i"));
    await look(ada, `results-${part}`);
  }
  await severalItems(ada, study);
  for (const part of ["plan", "download"]) {
    await ada.goes(`/studies/${study}/${part}`);
    await look(ada, part);
  }
}

/** The table sorts, filters, and shows either way of writing parameters. */
async function items(ada, study, data) {
  const { page } = ada;
  await ada.goes(`/studies/${study}/results`);
  const table = page.locator("#items-table");
  const rows = table.locator("tbody tr:visible");
  assert.equal(await rows.count(), data.items);
  await look(ada, "results");

  await page.getByLabel("Filter items").fill("i1");
  assert.equal(await rows.count(), 3, "i10, i11, i12");
  await page.getByLabel("Filter items").fill("");
  await table.getByRole("columnheader", { name: "a", exact: true }).getByRole("button").click();
  const slopes = (await table.locator("tbody tr td:nth-of-type(3)").allInnerTexts()).map(Number.parseFloat);
  const up = [...slopes].sort((a, b) => a - b);
  assert.ok([`${up}`, `${up.reverse()}`].includes(`${slopes}`), `sorted by slope: ${slopes}`);
  assert.ok(await table.locator(".as-b").first().isVisible());
  await page.getByLabel("a1, d (intercept)").check();
  assert.ok(await table.locator("td.as-d").first().isVisible() && !(await table.locator("td.as-b").first().isVisible()));
}

/** An item's curve, read with arrow keys and saved as a picture. */
async function oneItem(ada, study) {
  const { page } = ada;
  await ada.goes(`/studies/${study}/results`);
  await choosesItem(ada, "i05");
  await look(ada, "item");
  const drawing = page.locator("figure .drawing").first();
  await drawing.focus();
  await page.keyboard.press("ArrowRight");
  await drawing.locator("output.readout:not([hidden])").waitFor();
  for (const [kind, start] of [["SVG", "<svg"], ["PNG", "\x89PNG"], ["CSV", ""]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`[data-save=${kind.toLowerCase()}]`).first().click()]);
    const bytes = await readFile(await download.path());
    assert.ok(bytes.length > 100 && bytes.toString("latin1").includes(start), `${kind}: ${bytes.toString("latin1", 0, 80)}`);
  }
}

/** Several items on one picture, and all of them in the gallery. */
async function severalItems(ada, study) {
  const { page } = ada;
  await ada.goes(`/studies/${study}/results`);
  await laysOver(ada, ["i02", "i03", "i04"]);
  assert.match(await page.locator("#overlay-said").innerText(), /Shown: i01, i02, i03, i04\./);
  assert.equal(await page.locator("#item-overlay .wide svg .marks path").count(), 4);
  await look(ada, "overlay");
  assert.equal(await opensGallery(ada), 12);
  await look(ada, "gallery");
}
