// Pages that update themselves.

/** Waits until something is to be seen without anybody's doing. */
export async function appears({ page }, locator) {
  // A page is not told what changes between its being drawn and its listening (assets/live.js): such a one is loaded again.
  // When it asks once more on "ready", this must go.
  await locator.waitFor({ timeout: 3000 }).catch(async () => {
    await page.reload();
    await locator.waitFor();
  });
}
