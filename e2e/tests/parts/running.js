// A study that has come so far that it waits for an officer.

import assert from "node:assert/strict";
import { draw } from "../../helpers/data.js";
import { Officer } from "../../helpers/officer.js";
import { opensLink } from "../../pages/door.js";
import { takesPart } from "../../pages/officer.js";

/** A study whose rounds wait for olga, on the pages of the first site; what the others do is up to the play. */
export async function begins(scene, ...further) {
  const data = await draw(scene.folder);
  const coordinator = await scene.coordinator("--study", "bank", "--mode", "secure", "--sites", data.names.join(), "--items-from", data.file(data.names[0]), "--students", `${data.students}`);
  const site = await scene.site(data.names[0], ...further);
  const olga = await scene.person(site.origin, "olga");
  await opensLink(olga, site.link);
  await takesPart(olga, await coordinator.invites("bank", site.name), "bank", data.file(site.name), { by: "Olga Öst", asked: "each_round" });
  return { data, coordinator, site, olga };
}

/** A site at the command line that has enrolled. */
export async function officer(scene, data, coordinator, name) {
  const officer = new Officer(scene.folder, name, data.file(name));
  await officer.settles();
  const { status, stderr } = await officer.enrols(await coordinator.invites("bank", name));
  assert.equal(status, 0, stderr);
  return officer;
}
