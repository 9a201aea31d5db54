// A double click on an entry of the desktop: what it starts, and which page the browser is given.

import { spawn } from "node:child_process";
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually } from "./eventually.js";
import { binary } from "./program.js";

/** The entry of an installed package, or of the sources. */
const ENTRY = process.env.FEDIRT_DESKTOP ?? fileURLToPath(new URL("../../packaging/fedirt-site.desktop", import.meta.url));

/** The words of `Exec=`, as the Desktop Entry Specification reads them: escapes of strings, then quotes. */
export function words(exec) {
  const text = exec.replaceAll(/\\(.)/g, (_, c) => ({ s: " ", n: "\n", t: "\t", r: "\r" })[c] ?? c);
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, plain]) => plain ?? quoted.replaceAll(/\\(["`$\\])/g, "$1"));
}

/** Clicks twice on the icon, as a user whose home is this folder; the address of the page that the browser is given. */
export async function doubleClick(home) {
  const bin = join(home, "bin");
  const opened = join(home, "opened");
  await mkdir(bin, { recursive: true });
  await writeFile(opened, "");
  await writeFile(join(bin, "browser"), `#!/bin/sh\nprintf %s "$1" > "${opened}"\n`);
  await chmod(join(bin, "browser"), 0o755);
  const path = [bin, process.env.PATH];
  if (!process.env.FEDIRT_DESKTOP) await symlink(resolve(binary), join(bin, "fedirt")).catch(() => {});
  const [, exec] = (await readFile(ENTRY, "utf8")).match(/^Exec=(.*)$/m);
  const [program, ...rest] = words(exec);
  const env = { ...process.env, HOME: home, PATH: path.join(":"), BROWSER: join(bin, "browser") };
  const said = spawn(program, rest, { env, cwd: home, stdio: ["ignore", "inherit", "inherit"] });
  const status = await new Promise((resolve) => said.on("close", resolve));
  if (status !== 0) throw new Error(`${ENTRY}: status ${status}`);
  const page = await eventually("a page in the browser", async () => (await readFile(opened, "utf8")) || undefined);
  return `file://${page}`;
}

/** Ends the program that the double click has started. */
export async function ends(home) {
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (command.includes("pages") && command.includes(join(home, "fedirt-site"))) process.kill(Number(pid), "SIGTERM");
  }
}
