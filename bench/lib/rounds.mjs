// Measures several servers under load in alternating order, A B C A B C …, so that other work of the machine affects
// all of them equally.
import { load } from "./load.mjs";
import { median, spread, table } from "./numbers.mjs";
import { cpuMs } from "./processes.mjs";

/**
 * Measures every contestant once in each round.
 *
 * A contestant is `{ name, open }`; `open()` starts its server and returns `{ target, pid, end }`. All are started
 * and warmed up before the first round. One at a time is under load.
 *
 * @returns a row for each, in order: `{ name, rates, cpu }`, with responses per second and µs of CPU time per response, by round
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

/** Formats the results: each row compared with the first of the same round, so that a slow minute cancels out. */
export function ratioTable(rows, unit) {
  const [first] = rows;
  const cells = rows.map(({ name, rates, cpu }) => [
    name,
    Math.round(median(rates)).toLocaleString("en"),
    spread(rates.map((rate, round) => rate / first.rates[round])),
    cpu.length > 0 ? spread(cpu.map((micros, round) => first.cpu[round] / micros)) : "–",
    cpu.length > 0 ? median(cpu).toFixed(1) : "–",
  ]);
  return table(["", `${unit} per second`, `of ${first.name}`, "by CPU time", "µs each"], cells);
}
