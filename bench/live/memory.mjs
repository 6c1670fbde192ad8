// Whether memory grows over the messages of an hour, which are sent in minutes, while clients come and go.
import { table } from "../lib/numbers.mjs";
import { callFunction, tsweb } from "./contestants.mjs";
import { withListeners } from "./delivery.mjs";

/** Ten messages per second for an hour. */
const MESSAGES = 36_000;
const CONNECTIONS = 1_000;
const RATE = 300;

/** The part of the connections that is cut and opened again at each sample. */
const CHURN = CONNECTIONS / 10;
const SAMPLES = 9;

/** @returns a section with the heap after a garbage collection */
export function measureMemory() {
  const options = { connections: CONNECTIONS, tracksIds: true, nodeArgs: ["--expose-gc"] };
  return withListeners(tsweb, options, async ({ server, listeners, send }) => {
    const rows = [];
    let sent;
    for (let sample = 1; sample <= SAMPLES; sample++) {
      const sender = await send({ rate: RATE, sent, limit: MESSAGES / SAMPLES });
      sent = await sender.finished();
      await listeners.complete(sent);
      await listeners.churn(CHURN);
      const heap = await callFunction(server.address, "used_heap", {});
      rows.push([sent[0].toLocaleString("en"), (heap / 2 ** 20).toFixed(1)]);
      process.stderr.write(`sample ${sample} of ${SAMPLES}\n`);
    }
    const text = `The messages of an hour, ten a second, to ${CONNECTIONS.toLocaleString("en")} streams, sent in minutes. After each row a tenth of the streams was cut and resumed. The channel keeps its last 1,000 messages.`;
    return `### Memory\n\n${text}\n\n${table(["messages so far", "heap after a garbage collection, MiB"], rows)}`;
  });
}
