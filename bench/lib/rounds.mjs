// Measures several servers under load in turn, round after round: A B C A B C …, so that what the
// machine does meanwhile falls on all alike.
import { load } from "./load.mjs";
import { median, spread, table } from "./numbers.mjs";
import { cpuMs } from "./processes.mjs";

/**
 * Measures every contestant once in each round.
 *
 * A contestant is `{ name, open }`; `open()` starts its server and gives `{ target, pid, end }`. All
 * are started before the first round, so that each has warmed up; one at a time is loaded.
 *
 * @returns a row for each, in order: `{ name, rates, cpu }`, answers a second and µs of processor time an answer, by round
 */
export async function measure(contestants, { rounds, seconds, connections, warmUp }) {
  const open = [];
  try {
    for (const { name, open: start } of contestants) open.push({ name, rates: [], cpu: [], ...(await start()) });
    for (const { target } of open) await load(target, { seconds: warmUp, connections });
    for (let round = 0; round < rounds; round++) {
      for (const row of open) await measureOnce(row, { seconds, connections });
      process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    }
    return open.map(({ name, rates, cpu }) => ({ name, rates, cpu }));
  } finally {
    await Promise.all(open.map(({ end }) => end()));
  }
}

async function measureOnce(row, options) {
  const before = cpuMs(row.pid);
  const { requests, seconds } = await load(row.target, options);
  row.rates.push(requests / seconds);
  if (before !== null) row.cpu.push(((cpuMs(row.pid) - before) * 1000) / requests);
}

/** Writes the table: each row against the first, round by round, so that a slow minute cancels out. */
export function ratioTable(rows, what) {
  const [first] = rows;
  const cells = rows.map(({ name, rates, cpu }) => [
    name,
    Math.round(median(rates)).toLocaleString("en"),
    spread(rates.map((rate, round) => rate / first.rates[round])),
    cpu.length > 0 ? spread(cpu.map((micros, round) => first.cpu[round] / micros)) : "–",
    cpu.length > 0 ? median(cpu).toFixed(1) : "–",
  ]);
  return table(["", `${what} a second`, `of ${first.name}`, "by processor time", "µs each"], cells);
}
