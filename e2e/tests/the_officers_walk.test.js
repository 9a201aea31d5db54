// An officer who has never used a terminal: a workbook with other column names, options and a code for "no answer", from the double
// click on an icon to the approval, in at most twelve actions.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { draw } from "../helpers/data.js";
import { doubleClick, ends } from "../helpers/desktop.js";
import { look } from "../helpers/look.js";
import { scene } from "../helpers/scene.js";
import { workbook } from "../helpers/workbook.js";
import { done } from "../helpers/program.js";

const MOST = 12;
const ITEMS = 20;

/** The file as it lies on the officer's desk: `Item 1` to `Item 20`, letters, and a 9 where nothing was ticked. */
async function asWorkbook(data) {
  const [head, ...lines] = (await readFile(data.file("site01"), "utf8")).trim().split("\n").map((line) => line.split(","));
  const items = head.map((name, at) => (name === "id" ? "Pupil" : `Item ${at}`));
  const right = items.map((_, at) => "ABCD"[at % 4]);
  const option = (cell, at, row) => (cell === "1" ? right[at] : "ABCD"[(at + 1 + (row % 3)) % 4]);
  const rows = lines.map((line, row) => line.map((cell, at) => {
    if (at === 0) return cell;
    return (row * 7 + at) % 41 === 0 ? 9 : option(cell, at, row);
  }));
  return { book: workbook([items, ...rows]), key: right.slice(1).join(" ") };
}

scene("the officer's walk", async (scene) => {
  const data = await draw(scene.folder, { items: ITEMS, students: 400 });
  const coordinator = await scene.coordinator("--study", "bank", "--mode", "secure", "--sites", data.names.join(), "--items-from", data.file(data.names[0]), "--students", `${data.students}`);
  const line = await coordinator.invites("bank", "site01");
  const { book, key } = await asWorkbook(data);
  const file = join(scene.folder, "answers.xlsx");
  await writeFile(file, book);
  const home = join(scene.folder, "olga");
  await done("site", "--home", join(home, "fedirt-site"), "init");

  try {
    const actions = [];
    const acts = async (what, action) => {
      actions.push(what);
      await action();
      await look(olga, `${`${actions.length}`.padStart(2, "0")}-${what.replaceAll(" ", "-")}`);
    };
    const entry = await doubleClick(home);
    const origin = new URL((await readFile(entry.slice("file://".length), "utf8")).match(/url=(http:\/\/[^"#]+)/)[1]).origin;
    const olga = await scene.person(origin, "olga");
    olga.excuses(/asks another host: file:/);
    const { page } = olga;
    const button = (name) => page.getByRole("button", { name });
    const link = (name) => page.getByRole("link", { name });

    await acts("opens the program", async () => {
      await page.goto(entry);
      await page.getByRole("heading", { name: "Studies of this site" }).waitFor();
    });
    assert.ok(!page.url().includes("once"), "the code has gone from the address");
    await acts("pastes the invitation", () => page.getByLabel("Invitation").fill(line));
    await acts("reads the plan", () => olga.follows(button("Read the plan")));
    await acts("approves the plan", () => olga.follows(button("Approve this plan and enrol")));
    await acts("chooses the file", async () => {
      await page.getByLabel("Choose the file").setInputFiles(file);
      await page.getByRole("heading", { name: "What the columns are" }).waitFor();
    });
    assert.match(await page.locator("main").innerText(), /Each of the plan's 20 items has one/);
    assert.equal(await page.locator("#items tbody tr", { hasText: "same number" }).count(), ITEMS);
    assert.ok(await page.getByRole("radio", { name: /options that were chosen/ }).isChecked());
    await acts("says that 9 means no answer", () => page.locator('input[name=no-answer][value="9"]').check());
    await acts("gives the key", () => page.getByLabel("Answer key").fill(key));
    await acts("has the file checked", () => olga.follows(button("Check the file")));
    assert.match(await page.locator("ul.checks").innerText(), /400 students[\s\S]*20 of the plan's 20 items have answers/);
    await acts("sees what will be sent", () => olga.follows(link("See what will be sent")));
    await acts("goes on", () => olga.follows(link("Go on to approve")));
    await acts("signs with her name", () => page.getByLabel("Your name").fill("Olga Öst"));
    await acts("approves", () => olga.follows(button("Approve, and take part")));
    assert.match(new URL(page.url()).pathname, /running$/);
    assert.ok(actions.length <= MOST, `${actions.length} actions: ${actions.join(", ")}`);

    // The site has declared itself: what has left is on the receipt, which she prints.
    await olga.goes("/studies/bank/receipt");
    assert.match(await page.locator("main").innerText(), /Olga Öst/);
    await look(olga, "receipt");
    // After a day she logs in again with the icon, and types nothing.
    await olga.context.clearCookies();
    await page.goto(await doubleClick(home));
    await page.getByRole("heading", { name: "Studies of this site" }).waitFor();
  } finally {
    await ends(home);
  }
});
