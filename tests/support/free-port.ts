import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { reserve } from "./once-per-run.ts";

/**
 * Ports that no system uses for outgoing connections: such a connection could take the port of a server that is being restarted.
 * A node of a Redis cluster also listens on the port that is 10,000 higher.
 */
const [FIRST_PORT, LAST_PORT] = [12_000, 21_999];

/** Returns a port of this machine that is not in use, and that no other test of this run gets. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (!reserve(`port-${port}`)) continue;
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false, // it is in use
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

/** A server of a test, which keeps its port when it is restarted. */
interface RestartableServer {
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server on a free port, and waits until it is ready. */
export async function startOnFreePort<S extends RestartableServer>(create: (port: number) => S): Promise<S> {
  for (let attempt = 1; ; attempt++) {
    const server = create(await freePort());
    try {
      await server.restart();
      return server;
    } catch (error) {
      await server.stop();
      if (attempt === 5) throw error; // the earlier attempts may have failed because another process took the port
    }
  }
}
