// A site with a home of its own, whose officer works on its pages: at a port that stays the same when it is started again.

import { join } from "node:path";
import { free } from "./port.js";
import { done, Program } from "./program.js";
import { setRule } from "./rules.js";

export class Site {
  constructor(folder, name) {
    this.name = name;
    this.home = join(folder, `pages-${name}`);
  }

  async settles() {
    await done("site", "--home", this.home, "init");
    await this.rules("allow_pooled_rows_inferred", "true"); // the studies of these tests are small
    this.port = await free();
  }

  /** Starts the program that serves the pages. Each start has a link of its own. */
  async start(...words) {
    this.program = new Program("site", "--home", this.home, "pages", "--port", `${this.port}`, ...words);
    [, this.link] = await this.program.says(/open (http:\/\/[\w.]+:\d+\/login#\S+)/);
    this.origin = new URL(this.link).origin;
    [, this.auditor] = words.includes("--auditor") ? await this.program.says(/change nothing: (\S+)/) : [];
  }

  /** Changes a line of its rules. */
  async rules(name, value) {
    await setRule(this.home, name, value);
  }
}
