// The form of a new study.

/** Fills it in, field by field, under their labels. */
export async function fills({ page }, { study, purpose, file, sites, students, mode, colluders }) {
  await page.getByLabel("Name", { exact: true }).fill(study);
  await page.getByLabel("Purpose").fill(purpose);
  await page.getByLabel("Read a codebook, or the first line").setInputFiles(file);
  await page.getByText("Only the first line of").waitFor();
  await page.getByLabel("Sites", { exact: true }).fill(sites.join("\n"));
  await page.getByLabel("Students of all sites together").fill(`${students}`);
  await page.getByRole("radio", { name: mode, exact: true }).check();
  if (colluders !== undefined) {
    const more = page.locator("summary", { hasText: "Deadlines" });
    if (!(await page.getByLabel("Sites that may work with").isVisible())) await more.click();
    await page.getByLabel("Sites that may work with").fill(`${colluders}`);
  }
}

/** Asks what would follow. */
export async function asksWhatFollows(person) {
  await person.follows(person.page.getByRole("button", { name: "Show what follows" }));
}

/** Writes the plan. */
export async function writes(person) {
  await person.follows(person.page.getByRole("button", { name: "Write the plan" }));
}
