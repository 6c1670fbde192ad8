import { Server } from "node:net";

/** A turn of the event loop that takes longer may have left connections waiting. */
const SHORT_TURN_MS = 0.05;

/** How long to look for a turn of the event loop without a new connection. */
const MAX_WAIT_MS = 1_000;

/**
 * Stops accepting connections. The open ones, idle ones too, stay open, unlike with `server.close()`.
 *
 * The system completes connections before the process accepts them, and resets those that wait when the port closes: their
 * clients may have sent a request already. Node accepts one connection in each turn of the event loop. So the port is closed
 * directly after a turn that was short and in which no connection arrived, if there is one within a second.
 *
 * @returns a promise that resolves when the last connection has ended
 */
export async function closePort(server: Server): Promise<{ readonly ended: Promise<void> }> {
  let arrived = 0;
  const count = () => void arrived++;
  server.on("connection", count);
  close(new Server()); // compiles the function, so that its call below is short
  const giveUpAtMs = performance.now() + MAX_WAIT_MS;
  // In an object, because a promise would be awaited.
  const closed = await new Promise<{ readonly ended: Promise<void> }>((resolve) => {
    const attempt = () => {
      const arrivedBefore = arrived;
      const startedAtMs = performance.now();
      setImmediate(() => {
        const now = performance.now();
        const isQuiet = arrived === arrivedBefore && now - startedAtMs < SHORT_TURN_MS;
        if (isQuiet || now > giveUpAtMs) resolve({ ended: close(server) });
        else attempt();
      });
    };
    attempt();
  });
  server.off("connection", count);
  return closed;
}

function close(server: Server): Promise<void> {
  // `close` of an HTTP server would also close connections that have just become idle, on which a proxy may be sending
  // its next request.
  return new Promise((resolve) => {
    // The HTTP server of Bun is no server of its `node:net`, whose method throws.
    if ("bun" in process.versions) server.close(() => resolve());
    else Server.prototype.close.call(server, () => resolve());
  });
}
