// Measures several servers under load in alternating order, A B C C B A …, so that other work of the machine affects
// all of them equally.
import { load } from "./load.mjs";
import { median, spread, table } from "./numbers.mjs";
import { cpuMs } from "./processes.mjs";

/**
 * Measures every target once in each round.
 *
 * @param targets by name: `{ name, target, pid }`. Their servers run; one at a time is under load
 * @param options `rounds`; `seconds` of load in a round, and before the first one; `connections`
 * @returns a row for each, in order: `{ name, rates, cpu }`, with responses per second and µs of CPU time per response, by round
 */
export async function measure(targets, { rounds, seconds, warmUp, connections }) {
  const rows = targets.map((target) => ({ ...target, rates: [], cpu: [] }));
  for (const { target } of rows) await load(target, { seconds: warmUp, connections });
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? rows : rows.toReversed();
    for (const row of order) await measureOnce(row, { seconds, connections });
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  return rows;
}

async function measureOnce(row, options) {
  const before = cpuMs(row.pid);
  const { requests, seconds } = await load(row.target, options);
  row.rates.push(requests / seconds);
  if (before !== null) row.cpu.push(((cpuMs(row.pid) - before) * 1000) / requests);
}

const ratios = (row, other) => row.rates.map((rate, round) => rate / other.rates[round]);

/** Returns how often a row can respond in the CPU time of one response of another row, round by round; by rates without CPU times. */
export function efficiency(row, other) {
  return row.cpu.length > 0 ? row.cpu.map((micros, round) => other.cpu[round] / micros) : ratios(row, other);
}

/**
 * Formats the results: each row compared with the first of the same round, so that a slow minute cancels out.
 *
 * @param extra `{ head, cell }` of a last column
 */
export function ratioTable(rows, unit, extra) {
  const [first] = rows;
  const cells = rows.map((row) => [
    row.name,
    Math.round(median(row.rates)).toLocaleString("en"),
    spread(ratios(row, first)),
    row.cpu.length > 0 ? spread(efficiency(row, first)) : "–",
    row.cpu.length > 0 ? median(row.cpu).toFixed(1) : "–",
    ...(extra ? [extra.cell(row)] : []),
  ]);
  const head = ["", `${unit} per second`, `of ${first.name}`, "by CPU time", "µs each"];
  return table([...head, ...(extra ? [extra.head] : [])], cells);
}
