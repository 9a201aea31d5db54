// Ports of this machine.

import { createServer } from "node:net";

/** A port that nobody uses. */
export function free() {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject).listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
