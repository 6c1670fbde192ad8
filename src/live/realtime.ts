import { built } from "../built.ts";
import { consoleLog, type Log } from "../log.ts";
import { type Bus, openBus } from "./bus/index.ts";

/** Where the bus of this process comes from, until it is first used. */
interface Source {
  readonly busUrl: string | undefined;
  readonly log: Log;
}

let source: Source | null = null;
let bus: Bus | null = null;
let isInstalled = false;

/**
 * Says where the bus is to come from, unless one is installed by `use_bus`. Nothing is connected before
 * its first use. The last application that is made in a process decides: in development that is the
 * edited one.
 */
export function configureBus(from: Source): void {
  if (bus && !isInstalled && source?.busUrl !== from.busUrl) void closeBus();
  source = from;
}

/** Gives the bus of this process, and makes it on first use: the one in memory unless another is named. */
export function currentBus(): Bus {
  bus ??= openBus(source?.busUrl, source?.log ?? consoleLog());
  return bus;
}

/** Ends the connections of the bus. The next use makes it anew; one that was installed stays installed. */
export async function closeBus(): Promise<void> {
  if (isInstalled) return bus?.close();
  const closing = bus;
  bus = null;
  await closing?.close();
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
    isInstalled = true;
  },
});
