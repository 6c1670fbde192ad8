/**
 * An HTTP server of a test's own, on a free port of this machine.
 */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that listens. */
export interface LocalServer {
  /** As `http://127.0.0.1:43121`. */
  readonly address: string;
  /** Cuts what is under way, and stops listening. */
  close(): Promise<void>;
}

/** Serves a handler. */
export async function listen(handler: RequestListener): Promise<LocalServer> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port, not on a pipe
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
