import type { Logger } from "../logging/index.ts";
import { type Bus, openBus } from "./bus/index.ts";

/** What an application's bus is opened from, unless a bus was installed by `realtime.use_bus`. */
export interface BusSource {
  /** The value of `WEB_BUS_URL`; `undefined`: messages stay in memory. */
  readonly busUrl: string | undefined;
  readonly log: Logger;
}

/** The bus of one application. It is opened on first use. */
export class AppBus {
  readonly #source: BusSource;
  #bus: Bus | null = null;
  #replacement: AppBus | null = null;

  constructor(source: BusSource) {
    this.#source = source;
  }

  /** The bus in use; `null` before the first use and after {@link release}. */
  get current(): Bus | null {
    return this.#bus;
  }

  /** Returns the bus, and opens it on first use. Nothing is connected before its first operation. */
  open(): Bus {
    if (this.#replacement) return this.#replacement.open();
    this.#bus ??= openBus(this.#source.busUrl, this.#source.log);
    return this.#bus;
  }

  /** Uses this bus from now on. The caller closes the previous one. */
  set(bus: Bus): void {
    this.#bus = bus;
  }

  /** Stops using the bus, and returns it for the caller to close; `null` if there is none. */
  release(): Bus | null {
    const bus = this.#bus;
    this.#bus = null;
    return bus;
  }

  /**
   * Uses the bus of another application from now on. If that one has no bus yet, it takes over this one's, with the
   * messages that are stored there.
   */
  replaceBy(replacement: AppBus): void {
    const bus = this.release();
    this.#replacement = replacement;
    if (bus && !replacement.current) replacement.set(bus);
    else if (bus && bus !== replacement.current) void bus.close();
  }
}
