// A coordinator in a folder of its own, with pages over TLS at ports that are free.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { free } from "./port.js";
import { done, Program } from "./program.js";

export class Coordinator {
  constructor(folder) {
    this.folder = folder;
    this.file = (...parts) => join(folder, ...parts);
  }

  // Ports are chosen here and not by the program: it must be found where it was when it is started again.
  async init(...plan) {
    const [sites, pages] = [await free(), await free()];
    await done("coordinator", "init", this.folder, "--listen", `127.0.0.1:${sites}`, ...plan);
    const path = this.file("coordinator.toml");
    const text = (await readFile(path, "utf8")).replace("127.0.0.1:8444", `127.0.0.1:${pages}`);
    // Loopback would be plain HTTP unless told otherwise (docs/adr/0009).
    await writeFile(path, text.replace(/^tls = false/m, "tls = true"));
  }

  /** Starts it. The first start prints a link with a key; later ones do not. */
  async start() {
    this.program = new Program("coordinator", "start", this.folder);
    const [, origin, key] = await this.program.says(/Pages(?:: open| at) (https:\/\/[\w.]+:\d+)\/(?:login#(\S+))?\n/);
    this.origin = origin;
    this.link = key && `${origin}/login#${key}`;
    this.key ??= key;
    await this.#proves();
  }

  // Browsers read authorities from a database of the whole machine, which a test should leave alone: they are told to believe
  // any certificate. So the certificate is proved here, against the authority that the coordinator wrote.
  async #proves() {
    const { hostname: host, port } = new URL(this.origin);
    const ca = await readFile(this.file("tls", "authority.pem"));
    await new Promise((resolve, reject) => {
      const socket = connect({ host, port, ca }, () => {
        socket.destroy();
        resolve();
      });
      socket.on("error", reject);
    });
  }

  /** An invitation made at the command line: the line to hand over. */
  async invites(study, site) {
    const said = await done("coordinator", "invite", this.folder, study, site);
    return said.match(/fedirt-invitation:\S+/)[0];
  }

  /** A key for somebody. */
  async admit(name, role) {
    const said = await done("coordinator", "access", this.folder, "add", name, "--role", role);
    return said.match(/(?:#|\s|^)([\w-]{43})(?:\s|$)/)[1];
  }

  async revoke(name) {
    await done("coordinator", "access", this.folder, "revoke", name);
  }
}
