// Tables of several servers that deliver messages.
import { median, spread, table } from "../lib/numbers.mjs";
import { measureDelivery } from "./delivery.mjs";
import { reportFailure } from "./failures.mjs";

/** More messages per second than any server delivers, in deliveries. */
const OVERLOAD = 1_000_000;

const number = (value) => Math.round(value).toLocaleString("en");

/**
 * Measures each contestant once in a round, in alternating order.
 *
 * @returns a row for each contestant: `runs`, the result of each round, and `failure`, the message of the first error. A
 *   contestant that has failed is not measured again.
 * @throws Error when the first contestant fails, which all others are compared with
 */
async function inRounds(contestants, rounds, run) {
  const rows = contestants.map((contestant) => ({ contestant, runs: [], failure: undefined }));
  for (let round = 0; round < rounds; round++) {
    for (const row of round % 2 === 0 ? rows : rows.toReversed()) {
      if (row.failure === undefined) await measureRow(row, round, run);
    }
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  if (rows[0].failure !== undefined) throw new Error(`${rows[0].contestant.name}: ${rows[0].failure}`);
  return rows;
}

async function measureRow(row, round, run) {
  try {
    row.runs[round] = await run(row.contestant);
  } catch (error) {
    row.failure = reportFailure(row.contestant.name, error);
  }
}

/** Returns the cells of the rows; a contestant that has failed has the message of its error in the place of figures. */
function cellsOf(rows, width, cells) {
  return rows.map((row) => [
    row.contestant.name,
    ...(row.failure === undefined ? cells(row) : [`failed: ${row.failure}`, ...Array(width - 1).fill("")]),
  ]);
}

/** Compares servers that get more messages than they can deliver. */
export async function compareLoad(contestants, { rounds, seconds, connections, channels = 1 }) {
  const rate = (OVERLOAD / connections) * channels;
  const options = { connections, channels, seconds, rate };
  const rows = await inRounds(contestants, rounds, (contestant) => measureDelivery(contestant, options));
  const [first] = rows;
  const cells = cellsOf(rows, 6, ({ runs }) => [
    number(median(runs.map(({ rate }) => rate))),
    spread(runs.map(({ rate }, i) => rate / first.runs[i].rate)),
    spread(runs.map(({ cpu }, i) => first.runs[i].cpu / cpu)),
    median(runs.map(({ cpu }) => cpu)).toFixed(2),
    median(runs.map(({ kib }) => kib)).toFixed(1),
    spread(runs.map(({ kib }, i) => kib / first.runs[i].kib)),
  ]);
  const head = ["", "deliveries per second", "of bare", "by CPU time", "µs each", "KiB per stream", "of bare"];
  return `### Under load: ${streamsOf({ connections, channels })}\n\nAs many messages as the server answers, 64 at a time.\n\n${table(head, cells)}`;
}

/** Compares the latency at a rate that each server keeps up with: half of what the first one delivers at most. */
export async function compareLatency(contestants, { rounds, seconds, latencySeconds, connections }) {
  const saturation = await measureDelivery(contestants[0], {
    connections,
    seconds,
    rate: OVERLOAD / connections,
  });
  const rate = Math.max(1, Math.floor(saturation.rate / 2 / connections));
  const options = { connections, rate, seconds: latencySeconds };
  const rows = await inRounds(contestants, rounds, (contestant) => measureDelivery(contestant, options));
  const [first] = rows;
  const ms = (values) => spread(values, 1);
  const cells = cellsOf(rows, 3, ({ runs }) => [
    ms(runs.map(({ p50 }) => p50)),
    ms(runs.map(({ p99 }) => p99)),
    spread(runs.map(({ p99 }, i) => p99 / first.runs[i].p99)),
  ]);
  const head = ["", "p50, ms", "p99, ms", "p99, of bare"];
  return (
    `### Latency: ${streamsOf({ connections, channels: 1 })}\n\nFrom the request that publishes to the stream, with ${rate} messages ` +
    `per second: half of the load that the bare server can handle.\n\n${table(head, cells)}`
  );
}

/** Describes streams, for example “5,000 streams of 1,000 channels”. */
function streamsOf({ connections, channels }) {
  return `${number(connections)} streams of ${channels === 1 ? "one channel" : `${number(channels)} channels`}`;
}
