/**
 * The servers of the torture run: two built processes behind an nginx, with a Redis or a NATS server.
 */
import { setTimeout as pause } from "node:timers/promises";
import { AppProcess, sharedEnv } from "./app-process.ts";
import { NatsServer } from "./nats-server.ts";
import { Nginx } from "./nginx.ts";
import { RedisServer } from "./redis-server.ts";
import { readNatsMessages, readRedisMessages } from "./stored-messages.ts";
import type { TestProject } from "./test-project.ts";
import type { FaultInjection, TortureEnvironment } from "./torture.ts";

/** The buses that a run can use. */
export type BusKind = "redis" | "nats";

/** The servers of one run. */
export interface RunningEnvironment extends TortureEnvironment {
  /** Stops all of them. @returns the exit codes of the application's processes */
  close(): Promise<(number | null)[]>;
}

interface Restartable {
  kill(): Promise<void>;
  restart(): Promise<void>;
}

interface Freezable {
  pause(): Promise<void>;
  resume(): void;
}

/**
 * Starts the servers of a run. The caller has to close them.
 *
 * @param maxFrozenMs for how long the bus is frozen at most, in milliseconds
 */
export async function startTortureEnvironment(
  project: TestProject,
  kind: BusKind,
  maxFrozenMs: number,
): Promise<RunningEnvironment> {
  const bus = await (kind === "redis" ? RedisServer.start({ appendOnly: true }) : NatsServer.start());
  const env = sharedEnv(bus.url);
  const first = await AppProcess.start(project.dir, env);
  const second = await AppProcess.start(project.dir, env);
  const nginx = await Nginx.start({ ports: [first.port, second.port] });
  return {
    origin: nginx.address,
    servers: [first.address, second.address],
    readStoredMessages: (channels) =>
      kind === "redis" ? readRedisMessages(bus.url, channels) : readNatsMessages(bus.url),
    faultInjections: [
      kill(bus, { at: 0.2, maxDownMs: 1_500 }),
      freeze(bus, { at: 0.3, maxFrozenMs }),
      kill(first, { at: 0.4, maxDownMs: 1_000 }),
      kill(nginx, { at: 0.55, maxDownMs: 500 }),
      kill(bus, { at: 0.65, maxDownMs: 500 }),
      kill(second, { at: 0.8, maxDownMs: 500 }),
    ],
    async close() {
      const codes = await Promise.all([first.stop(), second.stop()]);
      await nginx.stop();
      await bus.stop();
      return codes;
    },
  };
}

/** Returns a fault injection that kills a server, and restarts it after a random time. */
function kill(server: Restartable, { at, maxDownMs }: { at: number; maxDownMs: number }): FaultInjection {
  return {
    at,
    async inject(random) {
      const downMs = random.integer(50, maxDownMs);
      await server.kill();
      await pause(downMs);
      await server.restart();
    },
  };
}

/** Returns a fault injection that freezes a server with SIGSTOP, and continues it after a random time. */
function freeze(server: Freezable, { at, maxFrozenMs }: { at: number; maxFrozenMs: number }): FaultInjection {
  return {
    at,
    async inject(random) {
      await server.pause();
      await pause(random.integer(maxFrozenMs / 2, maxFrozenMs));
      server.resume();
    },
  };
}
