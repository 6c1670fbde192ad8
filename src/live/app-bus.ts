import type { Logger } from "../logging/index.ts";
import { type Bus, openBus } from "./bus/index.ts";

/** The settings with which an application's bus is opened, unless `realtime.use_bus` has installed one. */
export interface BusSource {
  /** The value of `WEB_BUS_URL`; `undefined`: messages stay in memory. */
  readonly busUrl: string | undefined;
  readonly log: Logger;
}

/** The bus of one application. It is opened on first use. */
export class AppBus {
  readonly #source: BusSource;
  #bus: Bus | null = null;
  #delegate: AppBus | null = null;

  constructor(source: BusSource) {
    this.#source = source;
  }

  /** The bus in use; `null` before the first use and after {@link release}. */
  get current(): Bus | null {
    return this.#bus;
  }

  /** Returns the bus, and opens it on first use. Nothing is connected before its first operation. */
  open(): Bus {
    if (this.#delegate) return this.#delegate.open();
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
   * Uses the bus of another application from now on. If the other has no bus yet, the bus of this one is moved to it,
   * with its stored messages.
   */
  delegateTo(delegate: AppBus): void {
    const bus = this.release();
    this.#delegate = delegate;
    if (bus && !delegate.current) delegate.set(bus);
    else if (bus && bus !== delegate.current) void bus.close();
  }
}
