// A test: a folder of its own, programs, a browser with people; afterwards all of them are gone, and nobody had cause to complain.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { Coordinator } from "./coordinator.js";
import { Person } from "./person.js";
import { endAll } from "./program.js";
import { Site } from "./site.js";

const ARTIFACTS = fileURLToPath(new URL("../artifacts", import.meta.url));
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

class Scene {
  people = [];
  coordinators = [];
  sites = [];

  constructor(folder, browser, artifacts) {
    Object.assign(this, { folder, browser, artifacts });
  }

  /** A coordinator that has been started; further words are for a first plan. */
  async coordinator(...plan) {
    const coordinator = new Coordinator(join(this.folder, `hub${this.coordinators.length || ""}`));
    this.coordinators.push(coordinator);
    await coordinator.init(...plan);
    await coordinator.start();
    return coordinator;
  }

  /** A site whose pages are served; further words are for that command. */
  async site(name, ...words) {
    const site = new Site(this.folder, name);
    this.sites.push(site);
    await site.settles();
    await site.start(...words);
    return site;
  }

  /** Somebody at a browser. */
  async person(origin, name, options) {
    const person = await Person.enter(this.browser, origin, name, options);
    person.folder = this.artifacts;
    this.people.push(person);
    return person;
  }

  /** What was on the screens, and what the programs said. */
  async keep() {
    await mkdir(this.artifacts, { recursive: true });
    for (const { page, name } of this.people) {
      await page.screenshot({ path: join(this.artifacts, `failed-${name}.png`), fullPage: true }).catch(() => {});
    }
    const said = [...this.coordinators, ...this.sites].map(({ program }) => program?.said ?? "").join("\n");
    await writeFile(join(this.artifacts, "failed-programs.txt"), said);
  }

  async close() {
    await this.browser.close();
    await endAll();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A test in a scene. `name` is also that of its folder of pictures. */
export function scene(name, play, timeout = 180_000) {
  test(name, { timeout }, async () => {
    const artifacts = join(ARTIFACTS, name.replaceAll(/\W+/g, "-"));
    await rm(artifacts, { recursive: true, force: true });
    const folder = await mkdtemp(join(tmpdir(), "fedirt-e2e-"));
    // No name but this machine's own is looked up, whoever asks.
    const args = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1", "--no-proxy-server"];
    const browser = await chromium.launch({ executablePath, args });
    const scene = new Scene(folder, browser, artifacts);
    try {
      await play(scene);
      assert.deepEqual(scene.people.flatMap(({ complaints }) => complaints), []);
    } catch (error) {
      await scene.keep();
      throw error;
    } finally {
      await scene.close();
    }
  });
}
