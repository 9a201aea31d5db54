// A site that leaves, and how the others learn of it.

import assert from "node:assert/strict";
import { look } from "../helpers/look.js";
import { scene } from "../helpers/scene.js";
import { opensLink } from "../pages/door.js";
import { answer, approvesRoster, givesReason, readsRoster, stands, takesPart } from "../pages/officer.js";
import { sees } from "../pages/study.js";
import { begins, officer } from "./parts/running.js";

const words = ({ page }) => page.locator("main").innerText();

scene("an officer who withdraws", async (scene) => {
  const { data, coordinator, olga } = await begins(scene);
  const [, second, third] = data.names;
  const site = await scene.site(second);
  const otto = await scene.person(site.origin, "otto");
  await opensLink(otto, site.link);
  await takesPart(otto, await coordinator.invites("bank", second), "bank", data.file(second), { by: "Otto West", asked: "once" });
  const other = await officer(scene, data, coordinator, third);
  const [fingerprint] = await Promise.all([readsRoster(olga), readsRoster(otto), other.joins("bank")]);
  const program = other.approves("bank", fingerprint, data.names);
  await approvesRoster(olga);
  await approvesRoster(otto);
  await answer(olga).waitFor();
  await olga.follows(answer(olga));
  await answer(olga).waitFor();

  const ada = await scene.person(coordinator.origin, "ada");
  await opensLink(ada, coordinator.link);
  await ada.goes("/studies/bank");
  const { page } = olga;
  await olga.follows(page.getByRole("link", { name: "Withdraw from the study" }));
  await look(olga, "withdraw");
  await givesReason(olga, "Parents have objected");
  await olga.follows(page.getByRole("button", { name: "Withdraw" }));
  assert.match(await words(olga), /This site has withdrawn[\s\S]*this site withdrew in round 2/);
  await look(olga, "withdrawn");
  for (const [part, said] of [["running", /Withdrawn/], ["results", /ended without results/], ["sent", /Parents have objected/]]) {
    await olga.goes(`/studies/bank/${part}`);
    assert.match(await words(olga), said, part);
    await look(olga, `withdrawn-${part}`);
  }

  await sees(ada, /[Ee]nded/);
  assert.match(await ada.page.locator("#live-now").innerText(), /Why it ended[\s\S]*site01[\s\S]*Parents have objected/);
  await look(ada, "ended-by-withdrawal");
  await stands(otto, "Ended without results").waitFor();
  await look(otto, "ended-elsewhere");
  assert.notEqual(await program.ended, 0);
});
