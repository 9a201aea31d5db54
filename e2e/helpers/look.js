// Looking at a page: pictures at two widths, nothing that sticks out at the side, and no grave finding of axe, by day and by night.

import assert from "node:assert/strict";
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { findings } from "./axe.js";

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };

/** Looks at the page that somebody is on, and keeps the pictures under a name. */
export async function look(person, name) {
  const { page } = person;
  await pictures(person, name, async (width) => {
    if (width === WIDE.width) return check(person, `${name}, wide`);
    await page.emulateMedia({ colorScheme: "dark" });
    await check(person, `${name}, narrow and dark`);
    await page.emulateMedia({ colorScheme: "light" });
  });
}

/** The pictures alone, for pages so long that axe would take its time. */
export async function pictures({ page, folder }, name, then = () => {}) {
  await mkdir(folder, { recursive: true });
  for (const viewport of [WIDE, NARROW]) {
    const { width } = viewport;
    await page.setViewportSize(viewport);
    await page.screenshot({ path: join(folder, `${name}-${width}.png`), fullPage: true });
    const reach = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(reach <= width, `${name}: at ${width} px something reaches to ${reach} px`);
    await then(width);
  }
  await page.setViewportSize(WIDE);
}

async function check({ page, folder }, name) {
  // A page that updates itself may be replaced while it is read.
  const { all, grave } = await findings(page).catch(() => findings(page));
  if (all.length) await appendFile(join(folder, "axe.txt"), `${name}\n  ${all.join("\n  ")}\n`);
  assert.deepEqual(grave, [], `${name}: accessibility`);
}
