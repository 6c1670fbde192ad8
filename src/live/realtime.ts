import { consoleLog, type Log } from "../logging/index.ts";
import { built } from "../server/index.ts";
import { type Bus, openBus } from "./bus/index.ts";

/** Where the bus of this process comes from, until it is first used. */
interface Source {
  readonly busUrl: string | undefined;
  readonly log: Log;
}

let source: Source | null = null;
let bus: Bus | null = null;
/** How many applications of this process may use it. */
let users = 0;

/**
 * Says where the bus is to come from, unless one is installed by `use_bus`. Nothing is connected before
 * its first use. The last application that is made in a process decides: in development that is the
 * edited one.
 *
 * @returns what says that the application is over; with the last one, the bus is closed
 */
export function configureBus(from: Source): () => Promise<void> {
  source = from;
  users++;
  let isOver = false;
  return async () => {
    if (isOver) return;
    isOver = true;
    users--;
    if (users > 0) return;
    const closing = bus;
    bus = null; // the next use makes it anew
    await closing?.close();
  };
}

/** Gives the bus of this process, and makes it on first use: the one in memory unless another is named. */
export function currentBus(): Bus {
  bus ??= openBus(source?.busUrl, source?.log ?? consoleLog());
  return bus;
}

/** What carries messages between the processes of an application. */
export const realtime = Object.freeze({
  /**
   * Installs the bus, once when the program starts, before anything is published or listened to:
   * `redis(url)` of `tsweb/redis`, `nats(url)` of `tsweb/nats`, or one of your own. It goes before
   * `WEB_BUS_URL`; without either, messages stay in this process. In development each edit may install
   * it again.
   *
   * @throws Error when a bus is in use already: what was published there would be lost to those who listen
   * @example realtime.use_bus(redis("redis://localhost:6379"));
   */
  use_bus(installed: Bus): void {
    if (bus && built) {
      throw new Error(
        "realtime.use_bus: a bus is in use already. Install one once, at the top of src/app.ts, before anything " +
          "is published or listened to.",
      );
    }
    void bus?.close();
    bus = installed;
  },
});
