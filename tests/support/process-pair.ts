/**
 * Two processes of a built application that share a bus.
 */
import { AppProcess, sharedEnv } from "./app-process.ts";
import { NatsServer } from "./nats-server.ts";
import { RedisServer } from "./redis-server.ts";

/** The buses that processes share, with what starts a server of each. */
export const SHARED_BUSES = [
  ["Redis", () => RedisServer.start()],
  ["NATS", () => NatsServer.start()],
] as const;

type BusServer = RedisServer | NatsServer;

/** Two processes of an application, and their bus. */
export class ProcessPair {
  readonly bus: BusServer;
  readonly apps: readonly [AppProcess, AppProcess];

  private constructor(bus: BusServer, apps: readonly [AppProcess, AppProcess]) {
    this.bus = bus;
    this.apps = apps;
  }

  /**
   * Starts a bus and two processes. The caller has to {@link stop} them.
   *
   * @param dir the folder of the built project
   */
  static async start(dir: string, startBus: () => Promise<BusServer>): Promise<ProcessPair> {
    const bus = await startBus();
    const env = sharedEnv(bus.url);
    return new ProcessPair(bus, await Promise.all([AppProcess.start(dir, env), AppProcess.start(dir, env)]));
  }

  async stop(): Promise<void> {
    await Promise.all(this.apps.map((app) => app.stop()));
    await this.bus.stop();
  }
}
