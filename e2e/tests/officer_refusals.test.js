// What an officer is refused, or refuses: invitations, plans and files that are not as they should be.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { draw } from "../helpers/data.js";
import { expired } from "../helpers/invitation.js";
import { look } from "../helpers/look.js";
import { scene } from "../helpers/scene.js";
import { opensLink } from "../pages/door.js";
import { approves, checks, chooses, declaresMissing, enrols, fillsKey, goesOn, leavesOpen, maps, pastes, previews } from "../pages/officer.js";

const plan = (study, mode, data) => ["--study", study, "--mode", mode, "--sites", data.names.join(), "--items-from", data.file(data.names[0]), "--students", `${data.students}`];
const words = ({ page }) => page.locator("main").innerText();

scene("invitations and plans that are refused", async (scene) => {
  const data = await draw(scene.folder);
  const coordinator = await scene.coordinator(...plan("bank", "secure", data));
  const [olga, otto] = await Promise.all(["site01", "site02"].map(async (name) => {
    const site = await scene.site(name);
    const person = await scene.person(site.origin, name);
    person.site = site;
    person.excuses(/status of 4(00|22)/);
    await opensLink(person, site.link);
    return person;
  }));
  const line = await coordinator.invites("bank", "site01");

  for (const garbage of ["Dear Olga, please take part", line.slice(0, -20)]) {
    await pastes(olga, garbage);
    assert.match(await words(olga), /no invitation \(or a part of one is missing\)/);
  }
  await look(olga, "no-invitation");
  await pastes(olga, expired(line));
  assert.match(await words(olga), /expired on 1970.*ask the coordinator's operator for a new one/);
  await look(olga, "expired-invitation");

  // The rules take precedence over the plan, and changes take effect at once.
  await olga.site.rules("modes", '["private"]');
  await pastes(olga, line);
  assert.match(await olga.page.getByRole("alert").innerText(), /rules refuse the plan[\s\S]*secure/);
  assert.equal(await olga.page.getByRole("button", { name: "Approve" }).count(), 0);
  await look(olga, "refused-plan");
  await olga.site.rules("modes", '["secure"]');
  await olga.page.reload();
  await enrols(olga);
  assert.match(await words(olga), /Enrolled/);

  await pastes(otto, line);
  await enrols(otto);
  assert.match(await words(otto), /invitation of site01 was used with another key/);
  await look(otto, "used-invitation");
  await otto.goes("/studies/bank");
  assert.match(await otto.page.locator("ol.steps li").first().innerText(), /Next[\s\S]*has not accepted the enrolment/);
  await pastes(otto, await coordinator.invites("bank", "site02"));
  await enrols(otto);
  assert.match(await words(otto), /As site02[\s\S]*Enrolled/, "his own does");
});

scene("a plan that shows each site's sums", async (scene) => {
  const data = await draw(scene.folder);
  const coordinator = await scene.coordinator(...plan("open", "plain", data));
  const site = await scene.site("site01");
  const olga = await scene.person(site.origin, "olga");
  await opensLink(olga, site.link);
  await pastes(olga, await coordinator.invites("open", "site01"));
  assert.match(await olga.page.getByRole("alert").innerText(), /rules refuse the plan[\s\S]*plain/);
  assert.equal(await olga.page.getByRole("button", { name: "Approve" }).count(), 0);
  await look(olga, "plain-refused");
});

scene("files that do not do", async (scene) => {
  const data = await draw(scene.folder);
  const coordinator = await scene.coordinator(...plan("bank", "secure", data));
  const site = await scene.site("site01");
  const olga = await scene.person(site.origin, "olga");
  olga.excuses(/status of 4(00|22)/);
  await opensLink(olga, site.link);
  await pastes(olga, await coordinator.invites("bank", "site01"));
  await enrols(olga);
  const { page } = olga;
  const file = (name) => join(scene.folder, name);

  await writeFile(file("answers.xlsx"), Buffer.from("504b0304140006000800000021", "hex"));
  assert.match(await chooses(olga, "bank", file("answers.xlsx")), /CSV/);
  await look(olga, "no-table");
  await writeFile(file("empty.csv"), "");
  assert.match(await chooses(olga, "bank", file("empty.csv")), /empty/);

  const lines = (await readFile(data.file("site01"), "utf8")).split("\n");
  const changed = (number, change) => lines.map((line, n) => (n === number - 1 ? change(line) : line)).join("\n");
  // The third item's answer of the seventh student.
  await writeFile(file("bad.csv"), changed(8, (line) => line.replace(/^(\w+,.,.,)./, "$1x")));
  assert.equal(await chooses(olga, "bank", file("bad.csv")), undefined);
  await checks(olga);
  assert.match(await page.locator("#problems tbody").innerText(), /line 8, column i03/);
  assert.match(await words(olga), /No data of your students have left this computer[\s\S]*Correct it in the program that wrote it/);
  await look(olga, "problems");
  assert.equal(await page.getByRole("link", { name: "See what will be sent" }).count(), 0);
  await olga.goes("/studies/bank/approve");
  assert.match(new URL(page.url()).pathname, /check$/, "what has problems cannot be approved");
  // The same code, declared to mean no answer.
  await olga.follows(page.getByRole("link", { name: "Change columns and codes" }));
  await declaresMissing(olga, "x");
  await checks(olga);
  assert.match(await page.locator("ul.checks").innerText(), /200 students/);

  await writeFile(file("strange.csv"), changed(1, (line) => line.replaceAll("i", "question")));
  await chooses(olga, "bank", file("strange.csv"));
  assert.match(await words(olga), /No column has the name of an item of the plan/);
  await look(olga, "strange-columns");

  await mends(olga, file("mended.csv"), lines);
});

/** Loaded again from its place on the disk; but it changes between being shown and being approved. */
async function mends(olga, path, lines) {
  const { page } = olga;
  await writeFile(path, lines.join("\n"));
  await olga.goes("/studies/bank/file");
  await page.getByLabel("Or give its path").fill("answers.csv");
  await olga.follows(page.getByRole("button", { name: "Use this path" }));
  assert.match(await words(olga), /is no file on this machine/);
  await page.getByLabel("Or give its path").fill(path);
  await olga.follows(page.getByRole("button", { name: "Use this path" }));
  await checks(olga);
  await previews(olga);
  await goesOn(olga);
  await writeFile(path, lines.slice(0, -3).join("\n"));
  await approves(olga, { by: "Olga Öst", asked: "once" });
  assert.match(await words(olga), /has changed since it was shown/);
  await look(olga, "file-has-changed");
  await approves(olga, { by: "Olga Öst", asked: "once" });
  assert.match(new URL(page.url()).pathname, /running$/);
}

scene("a file with other names, options and words", async (scene) => {
  const data = await draw(scene.folder);
  const coordinator = await scene.coordinator(...plan("bank", "secure", data));
  const site = await scene.site("site01");
  const olga = await scene.person(site.origin, "olga");
  olga.excuses(/status of 4(00|22)/);
  await opensLink(olga, site.link);
  await pastes(olga, await coordinator.invites("bank", "site01"));
  await enrols(olga);

  // The first item is spelled otherwise, the second under another name altogether, the third has options; there is a total.
  const [head, ...lines] = (await readFile(data.file("site01"), "utf8")).trim().split("\n");
  const names = head.split(",");
  const items = names.filter((name) => name !== "id");
  const at = (item) => names.indexOf(item);
  const rows = lines.map((line) => line.split(","));
  const spelled = items[0].toUpperCase().replace(/(\d)/, "_$1");
  const strange = names.map((name) => (name === items[0] ? spelled : name === items[1] ? "opening task" : name));
  rows.forEach((row) => (row[at(items[2])] = row[at(items[2])] === "1" ? "B" : row[at(items[2])] === "0" ? "C" : row[at(items[2])]));
  const file = join(scene.folder, "strange.csv");
  await writeFile(file, [[...strange, "total"], ...rows.map((row) => [...row, "7"])].map((row) => row.join(",")).join("\n"));

  assert.equal(await chooses(olga, "bank", file), undefined);
  await leavesOpen(olga, items[0]);
  await look(olga, "columns-with-other-names");
  await checks(olga);
  const questions = await words(olga);
  assert.match(questions, /answers are no scores but texts[\s\S]*“Answer key” on the page of columns/);
  assert.match(questions, new RegExp(`differs from \`${items[0]}\`[\\s\\S]*“All columns” on the page of columns`));
  await look(olga, "questions-about-names-and-options");
  await olga.follows(olga.page.getByRole("link", { name: "Change columns and codes" }));
  await maps(olga, items[0], spelled);
  await maps(olga, items[1], "opening task");
  await fillsKey(olga, `item,key\n${items[2]},`);
  await checks(olga);
  assert.match(await words(olga), /These tables cannot be read[\s\S]*the item has no key/i);
  await fillsKey(olga, `item,key\n${items[2]},B`);
  await look(olga, "columns-answered");
  await checks(olga);
  assert.match(await words(olga), new RegExp(`${items.length} of the plan's ${items.length} items have answers`));
  await look(olga, "checked-with-a-key");
  // What was said is still there, and so is what is sent: the same as from the plain file.
  await previews(olga);
  const sent = await olga.page.locator("main").innerText();
  assert.equal(await chooses(olga, "bank", data.file("site01")), undefined);
  await checks(olga);
  await previews(olga);
  assert.equal((await olga.page.locator("main").innerText()).replace(/site01\.csv/g, "strange.csv"), sent);
});
