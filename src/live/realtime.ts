import type { Bus } from "../backends/index.ts";
import { processApps } from "./app-registry.ts";

/** The settings of live updates. */
export interface Realtime {
  /**
   * Installs the bus that carries messages between the processes of an application. Call it once, at the top of
   * `src/app.ts`. It takes precedence over `WEB_BUS_URL`; without either, messages stay in this process.
   *
   * All applications of the process use it. It is closed with the last of them. In development, it may be called again
   * after each edit.
   *
   * @param bus `redis(url)` of `tsweb/redis`, `nats(url)` of `tsweb/nats`, or an implementation of {@link Bus}
   * @throws Error if a bus is already in use in a built application: messages that were published to it would be lost
   * @example realtime.use_bus(redis("redis://localhost:6379"));
   */
  use_bus(bus: Bus): void;
}

/**
 * Returns the settings of live updates.
 *
 * @param isBuilt whether this is a built application: in any other, a bus that is in use can be replaced
 */
export function createRealtime({ isBuilt }: { readonly isBuilt: boolean }): Realtime {
  return Object.freeze({
    use_bus(bus: Bus): void {
      if (processApps.installBus(bus, { isReplaceable: !isBuilt })) return;
      throw new Error(
        "realtime.use_bus: a bus is already in use. Call it once, at the top of src/app.ts, before anything is " +
          "published or subscribed to.",
      );
    },
  });
}
