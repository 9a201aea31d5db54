// The guards themselves: each is shown a page on which it must complain.

import assert from "node:assert/strict";
import { findings } from "../helpers/axe.js";
import { eventually } from "../helpers/eventually.js";
import { look } from "../helpers/look.js";
import { scene } from "../helpers/scene.js";

scene("guards", async (scene) => {
  const coordinator = await scene.coordinator();
  const ada = await scene.person(coordinator.origin, "ada");
  await ada.goes("/login");
  assert.deepEqual(ada.complaints, []);

  const complains = async (pattern, act) => {
    await ada.page.evaluate(act);
    await eventually(`a complaint like ${pattern}`, () => ada.complaints.some((text) => pattern.test(text)));
  };
  await complains(/asks another host: https:\/\/example\.org/, () => { open("https://example.org/"); });
  await complains(/content policy: script-src/, () => { document.body.append(Object.assign(document.createElement("script"), { textContent: "1" })); });
  await complains(/console: trouble/, () => { console.error("trouble"); });
  await complains(/script: Error: thrown/, () => { setTimeout(() => { throw new Error("thrown"); }); });

  await ada.page.evaluate(() => { document.querySelector("label").remove(); });
  assert.match((await findings(ada.page)).grave.join(), /critical label/);
  await assert.rejects(look(ada, "no-label"), /accessibility/);
  await ada.goes("/login");
  await ada.page.evaluate(() => { document.querySelector("main").append("x".repeat(500)); });
  await assert.rejects(look(ada, "too-wide"), /reaches to/);
  ada.complaints.length = 0;
});
