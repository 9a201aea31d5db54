// A site's officer at the command line.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { done, Program, run } from "./program.js";
import { setRule } from "./rules.js";

/** What every site calls its students. */
const POPULATION = "pupils of this year";

export class Officer {
  constructor(folder, site, file) {
    this.site = site;
    this.file = file;
    this.home = join(folder, `home-${site}`);
  }

  #at(...args) {
    return ["site", "--home", this.home, ...args];
  }

  /** Makes the home, with a budget for private studies. */
  async settles(epsilon = 2) {
    await done(...this.#at("init"));
    await setRule(this.home, "allow_pooled_rows_inferred", "true"); // the studies of these tests are small
    await done(...this.#at("budget", POPULATION, "--epsilon", `${epsilon}`));
  }

  /** Reads an invitation and its plan, and enrols; exit status and words. */
  async enrols(invitation) {
    const path = `${this.home}.txt`;
    await writeFile(path, `${invitation}\n`);
    return run(...this.#at("enrol", "--file", path, "--yes"));
  }

  /** Joins with the file, and stays until the roster is there to be compared; returns its fingerprint. */
  async joins(study) {
    const program = new Program(...this.#at("join", study, this.file, "--population", POPULATION, "--yes"));
    const [, fingerprint] = await program.says(/Fingerprint of the roster: ([\d ]+\d)/);
    await program.ended;
    return fingerprint;
  }

  /** Approves a roster after calling the other sites of the study, and takes part until it is over. */
  approves(study, fingerprint, sites) {
    const called = sites.filter((site) => site !== this.site);
    this.program = new Program(...this.#at("join", study, this.file, "--population", POPULATION, "--yes", "--roster", fingerprint, "--called", called.join()));
    return this.program;
  }
}
