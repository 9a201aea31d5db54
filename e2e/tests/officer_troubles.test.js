// While a study runs at a site: lost connections, starts anew, a pause, and an auditor.

import assert from "node:assert/strict";
import { look } from "../helpers/look.js";
import { scene } from "../helpers/scene.js";
import { opensLink, types } from "../pages/door.js";
import { answer, answersAll, approvesRoster, readsRoster, stands } from "../pages/officer.js";
import { sees } from "../pages/study.js";
import { begins, officer } from "./parts/running.js";

const LOST = /ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|CONNECTION_RESET|EMPTY_RESPONSE)/;
const words = ({ page }) => page.locator("main").innerText();
const keyOf = (link) => link.split("#")[1];

scene("an officer whose connections are lost", async (scene) => {
  const { data, coordinator, site, olga } = await begins(scene, "--auditor", "Dr. Lee");
  const others = await Promise.all(data.names.slice(1).map((name) => officer(scene, data, coordinator, name)));
  const [fingerprint] = await Promise.all([readsRoster(olga), ...others.map((other) => other.joins("bank"))]);
  const programs = others.map((other) => other.approves("bank", fingerprint, data.names));
  await approvesRoster(olga);
  await answer(olga).waitFor();

  const { page } = olga;
  await coordinator.program.kill();
  await stands(olga, "The coordinator does not answer").waitFor();
  assert.match(await words(olga), /Nothing is lost; this site continues by itself/);
  await look(olga, "coordinator-lost");
  await olga.goes("/");
  assert.match(await page.locator("tbody").innerText(), /The coordinator does not answer/);
  await olga.goes("/studies/bank/running");
  await coordinator.start();
  await stands(olga, "A round waits for you").waitFor({ timeout: 40_000 });

  await restarts(olga, site);
  await isLookedOver(scene, site);
  await pauses(olga);
  const ada = await scene.person(coordinator.origin, "ada");
  await ada.goes("/studies/bank");
  await types(ada, coordinator.key);
  await sees(ada, "round");
  await answersAll(olga);
  for (const program of programs) assert.equal(await program.ended, 0, program.said);
  await sees(ada, "Finished");
  assert.match(await page.locator("#running-live").innerText(), /See your results/);
});

/** Her own program is gone, and comes back with another key. */
async function restarts(olga, site) {
  const { page } = olga;
  olga.excuses(LOST, /status of 40[13]/);
  const old = site.link;
  await site.program.kill();
  await page.locator(".connection", { hasText: "There is no answer" }).waitFor();
  await look(olga, "program-lost");
  await site.start("--auditor", "Dr. Lee");
  assert.notEqual(site.link, old);
  // The page notices that the session is over, and leads back to where she was.
  await page.getByLabel("Log-in key").waitFor();
  await look(olga, "log-in-again");
  await types(olga, keyOf(old));
  assert.match(await page.getByRole("alert").innerText(), /key/);
  await look(olga, "old-link");
  await types(olga, keyOf(site.link));
  assert.equal(new URL(page.url()).pathname, "/studies/bank/running");
  await answer(olga).waitFor();

  // A form that is sent after another start is not carried out.
  await page.route("**/events", (route) => route.abort());
  olga.excuses(/ERR_FAILED/);
  await page.reload();
  await site.program.stop();
  await site.start("--auditor", "Dr. Lee");
  await olga.follows(answer(olga));
  assert.equal(await olga.heading(), "Your session has ended");
  await look(olga, "session-ended");
  await page.unroute("**/events");
  await types(olga, keyOf(site.link));
  await answer(olga).waitFor();
}

/** An auditor sees all of it and can change nothing. */
async function isLookedOver(scene, site) {
  const lee = await scene.person(site.origin, "lee");
  lee.excuses(/status of 403/);
  await opensLink(lee, site.auditor);
  assert.match(await lee.page.locator("header").innerText(), /Dr\. Lee, auditor/);
  for (const part of ["", "studies/bank", "studies/bank/plan", "studies/bank/file", "studies/bank/columns", "studies/bank/check", "studies/bank/preview", "studies/bank/running", "studies/bank/results", "studies/bank/sent", "log", "ledger", "rules"]) {
    assert.equal(await lee.goes(`/${part}`), 200, part);
    const posts = await lee.page.evaluate(() => [...document.forms].filter((form) => form.method === "post" && form.querySelector("button")).map((form) => new URL(form.action).pathname));
    assert.deepEqual(posts, ["/logout"], `nothing to send on /${part}`);
  }
  await lee.goes("/studies/bank/running");
  await look(lee, "auditor-running");
  assert.equal(await lee.goes("/studies/bank/withdraw"), 403);
  await look(lee, "auditor-forbidden");
  const csrf = async () => (await lee.page.locator("input[name=csrf]").first().inputValue());
  for (const [path, form] of [["", { invitation: "x" }], ["studies/bank/running", { act: "pause" }], ["studies/bank/withdraw", { reason: "x" }]]) {
    await lee.goes("/log");
    const answer = await lee.page.request.post(`/${path}`, { form: { ...form, csrf: await csrf() } });
    assert.equal(answer.status(), 403, path);
  }
}

async function pauses(olga) {
  const { page } = olga;
  await olga.follows(page.getByRole("button", { name: "Pause" }));
  await stands(olga, "Paused").waitFor();
  assert.equal(await answer(olga).count(), 0);
  await look(olga, "paused");
  await olga.follows(page.getByRole("button", { name: "Resume" }));
  await answer(olga).waitFor();
}
