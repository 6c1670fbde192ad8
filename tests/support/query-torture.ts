/**
 * The torture run for queries: writers write and viewers view, while connections end, and processes and the bus are killed and frozen.
 * After each round, every viewer has to show what the database contains.
 */
import { setTimeout as pause } from "node:timers/promises";
import { callFunction, sendCall } from "./call-function.ts";
import { MAX_READ_MS, type TortureDatabase } from "./query-torture-database.ts";
import { type QueryFault, type QueryFaultKind, type QueryTarget, QueryViewer } from "./query-torture-viewer.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { FaultInjection } from "./torture.ts";

/** The size of a run. */
export interface QueryTortureSize {
  readonly boards: number;
  readonly viewers: number;
  readonly writers: number;
  /** Of all writers in a round. */
  readonly writes: number;
  /** The average pause of a writer between two changes. */
  readonly pauseMs: number;
}

/** A part of a run. */
export interface QueryTortureRound {
  readonly faultInjections: readonly FaultInjection[];
  /** What the processes and their clients may need to connect to the bus again, in milliseconds. 0 without faults. */
  readonly recoveryMs: number;
}

/** The servers of a run. */
export interface QueryTortureEnvironment {
  readonly servers: readonly string[];
  readonly rounds: readonly QueryTortureRound[];
  /** The run ends as soon as a fault of this kind is found. Default: after the first round with a fault. */
  readonly endsAt?: QueryFaultKind | undefined;
}

/** The result of a run. */
export interface QueryTortureResult {
  readonly faults: readonly QueryFault[];
  readonly writes: number;
  /** The calls of writers that had to be repeated. */
  readonly repeated: number;
  readonly reads: number;
  readonly values: number;
  readonly loads: number;
  readonly connections: number;
  readonly ended: number;
  readonly failed: number;
  /** How long after the last change of each round all viewers were current, in milliseconds. */
  readonly settledMs: readonly number[];
}

/** The guarantee: a second, and two runs. */
const SETTLE_MS = 1_000;
const RUNS = 2;

/** The way of the message over the bus, and that of the value to the viewer: a busy machine delays each as much as a run. */
const WAYS = 2;

/** A process that has not answered for longer is not busy, but has a fault. */
const MAX_BUSY_MS = 5_000;

/** How long it takes to see that nothing changes any more after all viewers are current. */
const QUIET_MS = 150;

const USERS = ["alice", "bob", null] as const;

/** The share of reads that fail in a round with faults. */
const FAILURES = 0.02;

/** The boards of a run. */
export function boardsOf({ boards }: QueryTortureSize): readonly string[] {
  return Array.from({ length: boards }, (_, n) => `b${n}`);
}

/**
 * Runs the torture run, until the first round with a fault. The seed determines all random choices, but not the order in which they
 * take effect.
 */
export async function tortureQueries(
  size: QueryTortureSize,
  { servers, rounds, endsAt }: QueryTortureEnvironment,
  { database, random }: { database: TortureDatabase; random: SeededRandom },
): Promise<QueryTortureResult> {
  const cookies = await Promise.all(USERS.map((user) => signIn(servers, user)));
  const viewers = Array.from({ length: size.viewers }, (_, n) => {
    const user = n % USERS.length;
    // Each viewer has an address of its own, since live requests are limited for each.
    const headers = { ...cookies[user], "x-forwarded-for": `192.0.2.${n + 1}` };
    return new QueryViewer({
      ...{ name: `viewer ${n}`, user: USERS[user] ?? null, headers, isPolling: n % 4 === 3 },
      ...{ servers, database, random: random.fork(), targets: targetsOf(size, random) },
      connectionMs: n % 3 === 0 ? [1_000, 5_000] : [20, 600],
    });
  });
  const viewing = viewers.map((viewer) => viewer.view());
  const settledMs: number[] = [];
  const faults: QueryFault[] = [];
  const findFaults = () => [
    ...faults,
    ...viewers.flatMap((viewer) => viewer.faults),
    ...database.overlaps.map((key) => ({ kind: "overlap" as const, description: key })),
  ];
  const hasEnded = () => endsAt !== undefined && findFaults().some(({ kind }) => kind === endsAt);
  const counts = { writes: 0, repeated: 0 };
  for (const [index, round] of rounds.entries()) {
    for (const viewer of viewers) viewer.settle(false);
    database.failures = round.recoveryMs > 0 ? FAILURES : 0;
    await writeAll(size, { servers, round, random, counts, hasEnded, prefix: `${index}` });
    database.failures = 0;
    for (const viewer of viewers) viewer.settle(true);
    if (hasEnded()) break;
    settledMs.push(await settle(viewers, { servers, recoveryMs: round.recoveryMs, hasEnded }, faults));
    if (findFaults().length > 0) break;
  }
  await Promise.all(viewers.map((viewer) => viewer.stop()));
  await Promise.all(viewing);
  const sum = (name: keyof QueryViewer["counts"]) => viewers.reduce((total, viewer) => total + viewer.counts[name], 0);
  return {
    ...{ faults: findFaults(), ...counts, reads: database.reads, values: sum("values"), loads: sum("loads") },
    ...{ connections: sum("connections"), ended: sum("ended"), failed: sum("failed"), settledMs },
  };
}

/** Signs a user in. A process that has started refuses sign-ins until it has read the revocations. */
async function signIn(servers: readonly string[], user: string | null): Promise<Readonly<Record<string, string>>> {
  if (user === null) return {};
  for (;;) {
    const { status, headers } = await sendCall(servers[0] ?? "", "enter", { user });
    const cookie = headers.getSetCookie().map((text) => text.split(";")[0]);
    if (status === 200) return { cookie: cookie.join("; ") };
    await pause(50);
  }
}

function targetsOf(size: QueryTortureSize, random: SeededRandom): QueryTarget[] {
  const [first = "", second = ""] = random.sample(boardsOf(size), 2);
  const targets: QueryTarget[] = [
    { name: "cards", boards: [first] },
    { name: "cards", boards: [second] },
    { name: "totals", boards: [first, second].sort() },
    { name: "mine", boards: [first] },
  ];
  return random.sample(targets, random.integer(2, 4));
}

interface RoundOptions {
  readonly servers: readonly string[];
  readonly round: QueryTortureRound;
  readonly random: SeededRandom;
  readonly counts: { writes: number; repeated: number };
  readonly hasEnded: () => boolean;
  readonly prefix: string;
}

/** Makes the changes of a round, while its faults are injected. Resolves when all have been published. */
async function writeAll(size: QueryTortureSize, options: RoundOptions): Promise<void> {
  const { servers, round, random, counts, hasEnded, prefix } = options;
  const [boards, before] = [boardsOf(size), counts.writes];
  const each = Math.ceil(size.writes / size.writers);
  const writing = Array.from({ length: size.writers }, async (_, writer) => {
    const own = random.fork();
    for (let n = 0; n < each && !hasEnded(); n++) {
      const [board = ""] = own.sample(boards, 1);
      while (!(await write(own.sample(servers, 1)[0] ?? "", { board, id: `${prefix}.${writer}.${n}` }))) {
        counts.repeated++;
        await pause(100);
      }
      counts.writes++;
      await pause(own.next() * 2 * size.pauseMs);
    }
  });
  for (const { at, inject } of round.faultInjections) {
    while (counts.writes - before < at * each * size.writers) await pause(5);
    await inject(random);
  }
  await Promise.all(writing);
}

/** @returns whether the change was committed and published; otherwise, it is unknown */
async function write(server: string, change: { board: string; id: string }): Promise<boolean> {
  try {
    await callFunction(server, "write", change);
    return true;
  } catch {
    return false;
  }
}

/**
 * Waits until all viewers are current, for as long as the guarantee allows: the longer the machine takes for what a run does, the later
 * it has to be.
 *
 * @returns after how many milliseconds they were
 */
async function settle(
  viewers: readonly QueryViewer[],
  options: { readonly servers: readonly string[]; readonly recoveryMs: number; readonly hasEnded: () => boolean },
  faults: QueryFault[],
): Promise<number> {
  const { servers, recoveryMs, hasEnded } = options;
  const settled = new AbortController();
  const slowestReadMs = measureReads(servers, settled.signal);
  const maxMs = () => SETTLE_MS + (RUNS + WAYS) * slowestReadMs() + recoveryMs;
  const beganMs = performance.now();
  const elapsedMs = () => Math.round(performance.now() - beganMs);
  const findOutdated = () => viewers.flatMap((viewer) => viewer.findOutdated());
  while (findOutdated().length > 0 && elapsedMs() < maxMs() && !hasEnded()) await pause(10);
  const settledMs = elapsedMs();
  settled.abort();
  if (hasEnded()) return settledMs;
  await pause(QUIET_MS); // no value of an earlier run comes after that
  faults.push(...findOutdated().map((description) => ({ kind: "behind" as const, description })));
  return settledMs;
}

/**
 * Reads the database through each process again and again, as runs do.
 *
 * @returns a function that returns the time of the slowest read so far, in milliseconds, also of one that has not ended
 */
function measureReads(servers: readonly string[], signal: AbortSignal): () => number {
  let slowestMs = MAX_READ_MS;
  /** When the read that is in progress has begun, by server. */
  const begunAtMs = new Map<string, number>();
  const measure = async (server: string) => {
    while (!signal.aborted) {
      begunAtMs.set(server, performance.now());
      await callFunction(server, "probe", {}).catch(() => undefined); // its process or the bus is starting
      slowestMs = readMs(server);
      begunAtMs.delete(server);
      await pause(50);
    }
  };
  const readMs = (server: string) => Math.max(slowestMs, performance.now() - (begunAtMs.get(server) ?? Infinity));
  for (const server of servers) void measure(server);
  return () => Math.min(MAX_BUSY_MS, Math.max(...servers.map(readMs)));
}
