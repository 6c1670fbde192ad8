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

/** A server of a test's own, on one port for as long as the test lasts. */
interface Startable {
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server on a free port, and waits until it is there. */
export async function startOnFreePort<S extends Startable>(make: (port: number) => S): Promise<S> {
  for (let attempt = 1; ; attempt++) {
    const server = make(await freePort());
    try {
      await server.restart();
      return server;
    } catch (error) {
      await server.stop();
      // Somebody else may have taken the port in between.
      if (attempt === 5) throw error;
    }
  }
}
