// How long it takes until connections that were cut at once have all messages again.
import { setTimeout as sleep } from "node:timers/promises";
import { withListeners } from "./delivery.mjs";

/** Messages per second: so many that each connection misses some. */
const RATE = 20;

/** How long the connections are cut. */
const CUT_MS = 500;

/** @returns the time in ms from the first reconnection until every connection has every message */
export function measureResume(contestant, { connections }) {
  return withListeners(contestant, { connections, tracksIds: true }, async ({ listeners, send }) => {
    const first = await send({ rate: RATE });
    await sleep(CUT_MS);
    const before = await first.stop();
    await listeners.complete(before);
    await listeners.cut();
    const missed = await send({ rate: RATE, sent: before });
    await sleep(CUT_MS);
    const sent = await missed.stop();
    const start = performance.now();
    await listeners.reopen();
    await listeners.complete(sent);
    return performance.now() - start;
  });
}
