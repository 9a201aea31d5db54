// The program under test, as a process whose lines can be waited for.

import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../target", import.meta.url));

/** Where the program is: FEDIRT, or what `cargo build --release` made. */
export const binary = process.env.FEDIRT ?? join(resolve(target), "release/fedirt");
if (!existsSync(binary)) throw new Error(`${binary} is missing: cargo build --release, or say where it is with FEDIRT`);

const running = new Set();
// A test that ends badly leaves nobody behind.
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Runs a command to its end: its exit status, output and complaints. */
export async function run(...args) {
  try {
    const { stdout, stderr } = await promisify(execFile)(binary, args);
    return { status: 0, stdout, stderr };
  } catch (error) {
    if (typeof error.code !== "number") throw error;
    return { status: error.code, stdout: error.stdout, stderr: error.stderr };
  }
}

/** Runs a command that must succeed; returns its output. */
export async function done(...args) {
  const { status, stdout, stderr } = await run(...args);
  if (status !== 0) throw new Error(`fedirt ${args.join(" ")}: exit status ${status}\n${stdout}${stderr}`);
  return stdout;
}

/** Ends whatever still runs. */
export async function endAll() {
  const all = [...running];
  await Promise.all(all.map((child) => new Promise((resolve) => {
    child.once("exit", resolve);
    child.kill("SIGKILL");
  })));
}

/** A command that goes on. */
export class Program {
  said = "";

  constructor(...args) {
    this.command = `fedirt ${args.join(" ")}`;
    this.child = spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"] });
    running.add(this.child);
    this.ended = new Promise((resolve) => {
      this.child.on("exit", (status, signal) => {
        running.delete(this.child);
        this.over = true;
        resolve(status ?? signal);
      });
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        this.said += text;
        this.heard?.();
      });
    }
  }

  /** Waits until it has said something. */
  async says(pattern, milliseconds = 20_000) {
    const until = Date.now() + milliseconds;
    for (;;) {
      const match = this.said.match(pattern);
      if (match) return match;
      if (this.over || Date.now() > until) throw new Error(`${this.command} did not say ${pattern}:\n${this.said}`);
      await Promise.race([
        new Promise((resolve) => { this.heard = resolve; }),
        new Promise((resolve) => setTimeout(resolve, 100)),
      ]);
    }
  }

  signal(name) {
    this.child.kill(name);
  }

  /** Asks it to stop, and waits. */
  async stop() {
    if (!this.over) this.signal("SIGINT");
    return this.ended;
  }

  /** Ends it as a power cut would. */
  async kill() {
    if (!this.over) this.signal("SIGKILL");
    return this.ended;
  }
}
