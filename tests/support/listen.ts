/**
 * A local HTTP server for one test, on a free port.
 */
import { createServer, type RequestListener, type ServerOptions } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that is listening. */
export interface LocalServer {
  /** The address, for example `http://127.0.0.1:43121`. */
  readonly address: string;
  /** Closes all connections and stops listening. */
  close(): Promise<void>;
}

/** Starts a server with this handler, and options of Node. */
export async function listen(handler: RequestListener, options: ServerOptions = {}): Promise<LocalServer> {
  const server = createServer(options, handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // address() returns a string for pipes only
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
