// A TCP proxy that delays everything: the network between a browser and a distant server.
import { once } from "node:events";
import { connect, createServer } from "node:net";

/**
 * Starts a proxy on a free port. A byte arrives half of `roundTripMs` after it was sent. A new connection takes a whole round trip
 * before the first byte is sent.
 */
export async function startDelayProxy({ port, roundTripMs }) {
  const sockets = new Set();
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      socket.on("error", () => socket.destroy()); // a browser ends connections as it likes
    }
    const openedAt = performance.now() + roundTripMs;
    forward(client, upstream, (now) => Math.max(now, openedAt) + roundTripMs / 2);
    forward(upstream, client, (now) => now + roundTripMs / 2);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const end = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  };
  return { address: `http://localhost:${server.address().port}`, end };
}

/** Writes what a socket receives to another one, later and in order. */
function forward(from, to, arrivalOf) {
  const later = (action) => {
    const now = performance.now();
    setTimeout(action, arrivalOf(now) - now);
  };
  from.on("data", (chunk) => later(() => to.write(chunk)));
  from.on("end", () => later(() => to.end()));
  from.on("close", () => later(() => to.destroy()));
}
