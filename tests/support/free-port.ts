import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";

/** Gives a port of this machine that nobody listens on; somebody may in the next moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe
  server.close();
  await once(server, "close");
  return port;
}
