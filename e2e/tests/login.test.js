// The door: a link that is good once printed, wrong keys, and an end to guessing.

import assert from "node:assert/strict";
import { look } from "../helpers/look.js";
import { scene } from "../helpers/scene.js";
import { opensLink, logsIn, types } from "../pages/door.js";

scene("log in and out", async (scene) => {
  const coordinator = await scene.coordinator();
  const ada = await scene.person(coordinator.origin, "ada");

  await ada.goes("/studies/none/plan");
  assert.equal(await ada.heading(), "Log in");
  await look(ada, "log-in");

  await opensLink(ada, coordinator.link);
  assert.equal(await ada.heading(), "Studies");
  assert.ok(!ada.page.url().includes(coordinator.key), "the key has gone from the address");
  await look(ada, "no-study-yet");
  const [cookie] = await ada.context.cookies();
  assert.deepEqual([cookie.secure, cookie.httpOnly, cookie.sameSite], [true, true, "Strict"]);

  // With the keyboard alone: the first stop leads past the head of the page.
  await ada.page.keyboard.press("Tab");
  assert.equal(await ada.page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  await ada.page.keyboard.press("Enter");
  await ada.page.waitForURL(/#main$/);

  ada.excuses(/status of 404/);
  assert.equal(await ada.goes("/studies/none"), 404);
  await look(ada, "not-found");

  await ada.goes("/");
  await ada.follows(ada.page.getByRole("button", { name: "Log out" }));
  await ada.goes("/help");
  assert.equal(await ada.heading(), "Log in");
  await types(ada, coordinator.key);
  assert.equal(await ada.heading(), "Help");
  await look(ada, "help");
});

scene("wrong keys", async (scene) => {
  const coordinator = await scene.coordinator();
  const mallory = await scene.person(coordinator.origin, "mallory");
  mallory.excuses(/status of 403/, /status of 429/);
  await logsIn(mallory, "x".repeat(43));
  assert.match(await mallory.page.getByRole("alert").innerText(), /This key is not valid/);
  await look(mallory, "wrong-key");
  for (let n = 1; n < 10; n += 1) await logsIn(mallory, "x".repeat(43));
  await logsIn(mallory, "x".repeat(43));
  assert.equal(await mallory.heading(), "Too many attempts");
  assert.match(await mallory.page.locator("main").innerText(), /Try again in 15 minutes/);
  await look(mallory, "too-many");
  // Nobody who has a key is kept out by those who guess.
  await logsIn(mallory, coordinator.key);
  assert.equal(await mallory.heading(), "Studies");
});

scene("without scripts", async (scene) => {
  const coordinator = await scene.coordinator();
  const ada = await scene.person(coordinator.origin, "ada", { javaScriptEnabled: false });
  await logsIn(ada, coordinator.key);
  await ada.follows(ada.page.getByRole("link", { name: "Set up a study" }));
  assert.equal(await ada.heading(), "Set up a study");
  assert.equal(await ada.page.locator("input[type=file]").isVisible(), false, "what needs a script is not shown");
});
