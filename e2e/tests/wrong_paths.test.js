// What goes wrong at the coordinator: a form with mistakes, a lost connection, a restart in the midst of a round, an ended session.

import assert from "node:assert/strict";
import { draw } from "../helpers/data.js";
import { look } from "../helpers/look.js";
import { Officer } from "../helpers/officer.js";
import { scene } from "../helpers/scene.js";
import { logsIn, opensLink, types } from "../pages/door.js";
import { fills } from "../pages/setup.js";
import { invites, sees } from "../pages/study.js";

scene("a form with mistakes", async (scene) => {
  const data = await draw(scene.folder);
  const coordinator = await scene.coordinator();
  const ada = await scene.person(coordinator.origin, "ada");
  ada.excuses(/status of 422/);
  await opensLink(ada, coordinator.link);
  await ada.goes("/new");
  await fills(ada, { study: "..reading", purpose: "A trial", file: data.file("site01"), sites: ["north", "north"], students: 100, mode: "private" });
  await ada.page.getByLabel("ε, in private").fill("lots");
  await ada.follows(ada.page.getByRole("button", { name: "Write the plan" }));
  const alert = ada.page.getByRole("alert").first();
  assert.match(await alert.innerText(), /study: .*dot[\s\S]*epsilon: A number/);
  assert.equal(await ada.page.getByLabel("Purpose").inputValue(), "A trial", "what was typed is still there");
  assert.equal(await ada.page.getByLabel("Name", { exact: true }).getAttribute("aria-invalid"), "true");
  await look(ada, "complaints");
});

scene("a coordinator that is lost and comes back", async (scene) => {
  const data = await draw(scene.folder);
  const coordinator = await scene.coordinator("--study", "bank", "--mode", "secure", "--sites", data.names.join(), "--items-from", data.file(data.names[0]), "--students", `${data.students}`);
  const ada = await scene.person(coordinator.origin, "ada");
  await opensLink(ada, coordinator.link);
  const lines = await invites(ada, "bank");
  const officers = data.names.map((site) => new Officer(scene.folder, site, data.file(site)));
  for (const officer of officers) {
    await officer.settles();
    assert.equal((await officer.enrols(lines.get(officer.site))).status, 0);
  }
  const [fingerprint] = await Promise.all(officers.map((officer) => officer.joins("bank")));
  const programs = officers.map((officer) => officer.approves("bank", fingerprint, data.names));
  await programs[2].says(/round 1, attempt 1: answered/);
  programs[2].signal("SIGSTOP");
  await ada.goes("/studies/bank");
  await sees(ada, /Sites (announce their participation in|answer) round/);

  ada.excuses(/ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|CONNECTION_RESET|EMPTY_RESPONSE)/, /status of 401/);
  await coordinator.program.kill();
  await ada.page.locator(".connection", { hasText: "There is no answer" }).waitFor();
  await look(ada, "no-answer");
  await coordinator.start();
  assert.equal(coordinator.link, undefined, "a link is printed at the first start only");

  // Sessions are kept in memory. The page notices by itself, and brings ada back to where she was.
  await ada.page.getByLabel("Log-in key").waitFor();
  await look(ada, "log-in-again");
  await types(ada, coordinator.key);
  assert.equal(new URL(ada.page.url()).pathname, "/studies/bank");
  programs[2].signal("SIGCONT");
  for (const program of programs) assert.equal(await program.ended, 0, program.said);
  await sees(ada, "Finished");
});

scene("a session that ends", async (scene) => {
  const data = await draw(scene.folder);
  const coordinator = await scene.coordinator();
  const key = await coordinator.admit("bea", "administrator");
  const bea = await scene.person(coordinator.origin, "bea");
  bea.excuses(/status of 40[13]/);
  await logsIn(bea, key);
  await bea.goes("/new");
  await fills(bea, { study: "reading", purpose: "A trial", file: data.file("site01"), sites: data.names, students: 600, mode: "private" });
  await coordinator.revoke("bea");
  await bea.follows(bea.page.getByRole("button", { name: "Write the plan" }));
  assert.equal(await bea.heading(), "Your session has ended");
  assert.match(await bea.page.locator("main").innerText(), /Your last request was not carried out/);
  await look(bea, "session-ended");
  await types(bea, key);
  assert.match(await bea.page.getByRole("alert").innerText(), /A revoked key stays revoked/);
  await types(bea, coordinator.key);
  assert.equal(new URL(bea.page.url()).pathname, "/new");
  await bea.goes("/");
  assert.match(await bea.page.locator("main").innerText(), /No study yet/);
});
