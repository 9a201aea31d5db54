// Waiting for something to become true.

/** Calls `look` until it returns something, and returns that. */
export async function eventually(what, look, milliseconds = 15_000) {
  const until = Date.now() + milliseconds;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > until) throw new Error(`still not, after ${milliseconds / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
