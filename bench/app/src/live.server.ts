import { setImmediate } from "node:timers/promises";
import { channel, type int, publish, server } from "tsweb";

/** Returns a feed of a measured channel, as a page gets it. */
export const issue_feed = server((name: string) => channel(`ticks-${name}`));

/** Publishes its argument. */
export const publish_tick = server(async (name: string, message: Tick) => {
  await publish(`ticks-${name}`, message);
});

/** The next number of each channel. */
const nextNumbers = new Map<string, number>();

/** Publishes the next message of a channel. @param at when it was sent: 16 digits, in µs */
export const publish_numbered = server(async (name: string, at: string) => {
  const seq = nextNumbers.get(name) ?? 0;
  nextNumbers.set(name, seq + 1);
  await publish(`ticks-${name}`, messageOf(seq, at));
});

interface Tick {
  readonly n: int;
  readonly text: string;
}

/** Publishes messages as fast as the bus stores them, with so many on their way at a time. Returns the time in ms. */
export const publish_many = server(async (name: string, first: int, count: int, concurrency: int) => {
  const start = performance.now();
  let seq = first;
  const publishNext = async () => {
    while (seq < first + count) await publish(`ticks-${name}`, message(seq++));
  };
  await Promise.all(Array.from({ length: concurrency }, publishNext));
  return performance.now() - start;
});

/** Some objects are freed only after an earlier collection has called their finalizers. */
const COLLECTIONS = 4;

/** Returns the heap in bytes after garbage collections. The process has to run with --expose-gc. */
export const used_heap = server(async () => {
  for (let count = 0; count < COLLECTIONS; count++) {
    globalThis.gc?.();
    await setImmediate();
  }
  return process.memoryUsage().heapUsed;
});

/** A message in the form that the listeners of the benchmark expect: its number, and when it was published, in µs. */
function message(seq: number) {
  return messageOf(seq, String(process.hrtime.bigint() / 1000n).padStart(16, "0"));
}

function messageOf(seq: number, at: string) {
  return { n: 1_000_000, text: `~${String(seq).padStart(9, "0")}.${at} said something.` };
}
