// Setting up a study.

import assert from "node:assert/strict";
import { look } from "../../helpers/look.js";
import { asksWhatFollows, fills, writes } from "../../pages/setup.js";

export async function setsUp(ada, data, { study, mode }) {
  await ada.goes("/new");
  if (mode === "secure") await look(ada, "set-up");
  const plan = { study, mode, purpose: "A common item bank for three districts", sites: data.names, students: data.students, file: data.file(data.names[0]), colluders: 1 };
  await fills(ada, plan);
  await asksWhatFollows(ada);
  const follows = ada.page.locator("#follows");
  assert.match(await follows.innerText(), mode === "private" ? /ε/ : /Mode secure/);
  assert.equal(await follows.locator("figure").count(), mode === "private" ? 1 : 0, "expected standard errors by ε");
  await look(ada, `what-follows-${mode}`);
  await writes(ada);
  assert.equal(await ada.heading(), study);
}
