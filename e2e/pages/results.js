// The results of a study at the coordinator.

/** Chooses an item in the table: the viewer beside it shows it. */
export async function choosesItem({ page }, name) {
  await page.locator("#items-table").getByRole("button", { name, exact: true }).click();
  await page.locator("#item-curves h3", { hasText: name }).waitFor();
}

/** Lays items over the one that is shown. */
export async function laysOver({ page }, names) {
  await page.getByRole("radio", { name: "Several items" }).check();
  for (const name of names) await page.locator("#items-table").getByRole("button", { name, exact: true }).click();
}

/** Opens the gallery; how many items it shows. */
export async function opensGallery({ page }) {
  await page.locator("#gallery summary").click();
  await page.locator("#gallery svg").first().waitFor();
  return page.locator("#gallery svg").count();
}
