import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** Returns a port of this machine that is not in use. Another process may take it before the caller listens on it. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe
  server.close();
  await once(server, "close");
  return port;
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
