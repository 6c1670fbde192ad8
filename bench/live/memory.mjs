// Whether memory grows over the messages of an hour, which are sent in minutes, while clients come and go.
import { setTimeout as sleep } from "node:timers/promises";
import { slope, table } from "../lib/numbers.mjs";
import { callFunction, tsweb } from "./contestants.mjs";
import { withListeners } from "./delivery.mjs";

/** Until then the history of the channel and the buffer of the process are full, and what is run often is compiled. */
const WARM_UP_MESSAGES = 8_000;

/** Ten messages per second for an hour. */
const MESSAGES = 36_000;
const CONNECTIONS = 1_000;
const RATE = 300;

/** The part of the connections that is cut and opened again before each sample. */
const CHURN = CONNECTIONS / 10;
const SAMPLES = 9;

/** The time in which the server notices the closed connections. */
const SETTLE_MS = 1_000;

/**
 * Runs V8 as an interpreter. A garbage collection also discards compiled code whose objects it has freed. V8 compiles it again,
 * and its lists of code grow meanwhile. Without compiled code, the heap has only what the process keeps.
 */
const INTERPRETED = ["--no-opt", "--no-sparkplug"];

/** @returns a section with the heap after garbage collections, with and without compiled code */
export async function measureMemory() {
  const usual = await heapSamples("usual", []);
  const interpreted = await heapSamples("interpreted", INTERPRETED);
  const rows = usual.map((heap, i) => [
    (i * (MESSAGES / SAMPLES)).toLocaleString("en"),
    ...[heap, interpreted[i]].map((bytes) => (bytes / 2 ** 20).toFixed(2)),
  ]);
  const text = `The messages of an hour, ten a second, to ${CONNECTIONS.toLocaleString("en")} streams, sent in minutes, after a warm-up with ${WARM_UP_MESSAGES.toLocaleString("en")} messages. Before each row a tenth of the streams was cut and resumed. The channel keeps its last 1,000 messages. “Interpreted” is a second run with \`node ${INTERPRETED.join(" ")}\`, whose heap has no compiled code.`;
  const growth = `Slope of the lines through the rows, by least squares: ${growthOf(usual)} KiB for 10,000 messages, interpreted ${growthOf(interpreted)}.`;
  const head = ["messages after the warm-up", "heap, MiB", "heap, MiB, interpreted"];
  return `### Memory\n\n${text}\n\n${table(head, rows)}\n\n${growth}`;
}

/** Measures the heap in bytes after the warm-up and after each ninth of the messages. */
function heapSamples(name, nodeArgs) {
  const options = { connections: CONNECTIONS, tracksIds: true, nodeArgs: ["--expose-gc", ...nodeArgs] };
  return withListeners(tsweb, options, async ({ server, listeners, send }) => {
    const heaps = [];
    let sent;
    for (let sample = 0; sample <= SAMPLES; sample++) {
      const sender = await send({ rate: RATE, sent, limit: sample === 0 ? WARM_UP_MESSAGES : MESSAGES / SAMPLES });
      sent = await sender.finished();
      await listeners.complete(sent);
      await listeners.churn(CHURN);
      await sleep(SETTLE_MS);
      heaps.push(await callFunction(server.address, "used_heap", {}));
      process.stderr.write(`memory, ${name}: sample ${sample} of ${SAMPLES}\n`);
    }
    return heaps;
  });
}

/** Formats the growth of samples in KiB for 10,000 messages. */
const growthOf = (heaps) => Math.round((slope(heaps) / 1_024 / (MESSAGES / SAMPLES)) * 10_000) || 0; // not -0
