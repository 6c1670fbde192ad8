/**
 * The servers of the torture run for queries: three processes of a built application, with a Redis or a NATS server.
 */
import { setTimeout as pause } from "node:timers/promises";
import { AppProcess, sharedEnv } from "./app-process.ts";
import { NatsServer } from "./nats-server.ts";
import {
  boardsOf,
  type QueryTortureResult,
  type QueryTortureRound,
  type QueryTortureSize,
  tortureQueries,
} from "./query-torture.ts";
import { TortureDatabase } from "./query-torture-database.ts";
import type { QueryFaultKind } from "./query-torture-viewer.ts";
import { RedisServer } from "./redis-server.ts";
import { SeededRandom } from "./seeded-random.ts";
import type { TestProject } from "./test-project.ts";
import type { FaultInjection } from "./torture.ts";
import type { BusKind } from "./torture-environment.ts";

/** The options of {@link runQueryTorture}. */
export interface QueryTortureOptions {
  readonly size: QueryTortureSize;
  readonly bus: BusKind;
  readonly seed: number;
  /** Default: 3. */
  readonly processes?: number;
  /** Rounds in which only connections end. */
  readonly calmRounds: number;
  /** How often the processes and the bus are killed and frozen. Default: never. */
  readonly faultRounds?: number;
  /** For how long they are frozen at most, in milliseconds. Default: 0. */
  readonly maxFrozenMs?: number;
  /** The run ends as soon as a fault of this kind is found. Default: after the first round with a fault. */
  readonly endsAt?: QueryFaultKind;
}

/** Starts the servers, runs the torture run, and stops the servers. */
export async function runQueryTorture(project: TestProject, options: QueryTortureOptions): Promise<QueryTortureResult> {
  const { size, seed, calmRounds, faultRounds = 0, maxFrozenMs = 0, endsAt } = options;
  const random = new SeededRandom(seed);
  const database = await TortureDatabase.start(boardsOf(size), random.fork());
  const bus = await (options.bus === "redis" ? RedisServer.start({ appendOnly: true }) : NatsServer.start());
  const env = { ...sharedEnv(bus.url), WEB_TRUST_PROXY: "1", DATABASE_URL: database.address };
  const processes = await Promise.all(
    Array.from({ length: options.processes ?? 3 }, () => AppProcess.start(project.dir, env)),
  );
  try {
    const rounds: QueryTortureRound[] = Array.from({ length: calmRounds }, () => ({
      faultInjections: [],
      recoveryMs: 0,
    }));
    for (let n = 0; n < faultRounds; n++) rounds.push(...faultRoundsOf(processes, bus, maxFrozenMs));
    const servers = processes.map(({ address }) => address);
    return await tortureQueries(size, { servers, rounds, endsAt }, { database, random });
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
    await bus.stop();
    await database.close();
  }
}

/** The time that a process may need to connect to the bus again, and queries to run again after failures. */
const RECOVERY_MS = 15_000;

function faultRoundsOf(
  processes: readonly AppProcess[],
  bus: RedisServer | NatsServer,
  maxFrozenMs: number,
): QueryTortureRound[] {
  const killProcess: FaultInjection = {
    at: 0.1,
    async inject(random) {
      const [killed] = random.sample(processes, 1);
      await killed?.kill();
      await pause(random.integer(50, 500));
      await killed?.restart();
    },
  };
  const freezeProcess: FaultInjection = {
    at: 0.2,
    async inject(random) {
      const [frozen] = random.sample(processes, 1);
      frozen?.freeze();
      await pause(random.integer(maxFrozenMs / 2, maxFrozenMs));
      frozen?.resume();
    },
  };
  const killBus: FaultInjection = {
    at: 0.3,
    async inject(random) {
      await bus.kill();
      await pause(random.integer(50, 1_000));
      await bus.restart();
    },
  };
  const freezeBus: FaultInjection = {
    at: 0.6,
    async inject(random) {
      await bus.pause();
      await pause(random.integer(maxFrozenMs / 2, maxFrozenMs));
      bus.resume();
    },
  };
  return [
    { faultInjections: [killProcess, freezeProcess], recoveryMs: RECOVERY_MS },
    { faultInjections: [killBus, freezeBus], recoveryMs: RECOVERY_MS },
  ];
}
