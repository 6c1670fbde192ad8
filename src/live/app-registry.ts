import { type Bus, isMemoryBus } from "../backends/index.ts";
import { ContextKey, currentContext } from "../http/index.ts";
import { createConsoleLogger } from "../logging/index.ts";
import { AppBus } from "./app-bus.ts";

const NO_APP_FIX =
  "In a script, import src/app.ts, set WEB_BUS_URL and WEB_AUTH_SECRET as for the server, and end with await app.close(). Or call " +
  "a function of the running application with tsweb/client.";
const PUBLISH_FIX = "Call app.publish(name, data) of the application that the message is for";
const FIXES: Readonly<Record<string, string>> = {
  listen: "Pass the application whose messages it receives: listen(name, { app })",
  revalidate: "Call it in a request of the application whose page it is",
};

const log = createConsoleLogger();

/** The applications of a process, and the bus that `realtime.use_bus` has installed for all of them. */
class AppRegistry {
  /** The bus of each application that is open. */
  readonly #apps = new Set<AppBus>();
  readonly #busOfApp = new WeakMap<object, AppBus>();
  /** Called with the bus of the first application; `null` once there was one. */
  #waiting: ((bus: AppBus) => void)[] | null = [];
  /**
   * The bus while no application is open: before the first one a bus in memory, then that of the application that was
   * closed last, which rejects every use.
   */
  #fallbackBus = new AppBus({ busUrl: undefined, busNamespace: "", log, fingerprints: [] });
  #installedBus: Bus | null = null;
  #hasWarned = false;
  /** Whether this process is a development server, which makes a new App after every edit. */
  #isDevelopment = false;

  /**
   * Adds an application. In a development server it replaces the earlier one, which is not closed: both use one bus, so
   * that messages of the earlier one are delivered to subscribers of the new one.
   */
  add(bus: AppBus, app: object): void {
    if (this.#installedBus) bus.set(this.#installedBus);
    this.#apps.add(bus);
    this.#busOfApp.set(app, bus);
    if (this.#isDevelopment) this.#replaceEarlierApps(bus);
    for (const resolve of this.#waiting?.splice(0) ?? []) resolve(bus);
    this.#waiting = null;
  }

  /** Removes an application, and closes its bus unless another application uses the same. A second call has no effect. */
  async remove(app: AppBus): Promise<void> {
    if (!this.#apps.delete(app)) return;
    const bus = app.close();
    if (this.#apps.size === 0) this.#fallbackBus = app;
    if (bus === null || [...this.#apps].some(({ current }) => current === bus)) return;
    if (bus === this.#installedBus) this.#installedBus = null;
    await bus.close();
  }

  /** Marks this process as a development server, and the application as its current one. */
  setDevelopmentApp(app: AppBus): void {
    this.#isDevelopment = true;
    if (this.#apps.has(app)) this.#replaceEarlierApps(app); // otherwise an edit has replaced it while it was loading
  }

  /**
   * Returns the bus for code outside a request: that of the only application of this process.
   *
   * @param caller the public function, for the message
   * @throws Error when there are several applications
   */
  onlyAppBus(caller: string): AppBus {
    if (this.#apps.size > 1) {
      throw new Error(
        `${caller} was called outside a request, and this process has ${this.#apps.size} applications. ` +
          `${FIXES[caller] ?? PUBLISH_FIX}, or close the other applications.`,
      );
    }
    if (this.#waiting && !this.#installedBus && !this.#hasWarned) {
      this.#hasWarned = true;
      log.warn({ fix: NO_APP_FIX }, `${caller} was called in a process without an application, so it reaches no page.`);
    }
    const [onlyApp = this.#fallbackBus] = this.#apps;
    return onlyApp;
  }

  /** Returns the bus of the first application: a promise while the process has had none. */
  firstAppBus(): AppBus | Promise<AppBus> {
    const waiting = this.#waiting;
    return waiting ? new Promise((resolve) => waiting.push(resolve)) : this.onlyAppBus("listen");
  }

  /** Returns the bus of an `App`; `undefined` for anything else. */
  busOfApp(app: object): AppBus | undefined {
    return this.#busOfApp.get(app);
  }

  /**
   * Installs a bus for all current and later applications of this process, and closes the bus that was used before.
   *
   * @param options.isReplaceable whether a bus in use may be replaced; messages that were published to it are lost
   * @returns whether the bus was installed
   */
  installBus(bus: Bus, { isReplaceable }: { readonly isReplaceable: boolean }): boolean {
    const buses = [...this.#apps, this.#fallbackBus];
    const inUse = new Set([this.#installedBus, ...buses.map(({ current }) => current)]);
    inUse.delete(null);
    if (inUse.size > 0 && !isReplaceable) return false;
    this.#installedBus = bus;
    for (const appBus of buses) appBus.set(bus);
    for (const previous of inUse) if (previous !== bus) void previous?.close();
    return true;
  }

  /** Returns whether `realtime.use_bus` has installed a bus that processes share: any but one in memory. */
  hasSharedBus(): boolean {
    return this.#installedBus !== null && !isMemoryBus(this.#installedBus);
  }

  #replaceEarlierApps(app: AppBus): void {
    for (const earlier of this.#apps) {
      if (earlier === app) continue;
      this.#apps.delete(earlier);
      earlier.replaceBy(app);
    }
  }
}

/**
 * The applications of this process.
 *
 * It is module-level state because its lifetime is the process's: outside a request, `publish` has no other way to find its
 * application, and `use_bus` is called before the first `new App`.
 */
export const processApps = new AppRegistry();

/** Returns whether `realtime.use_bus` has installed a bus that processes share: any but one in memory. */
export function hasSharedBus(): boolean {
  return processApps.hasSharedBus();
}

/** The bus of the application of a request. */
export const APP_BUS = new ContextKey<AppBus>();

/**
 * Returns the bus of the application whose request is being handled; outside a request, that of the only application
 * of this process.
 *
 * @param caller the public function, for the message
 * @throws Error outside a request, when there are several applications
 */
export function currentBus(caller: string): AppBus {
  return currentContext()?.get(APP_BUS) ?? processApps.onlyAppBus(caller);
}

/**
 * Returns the bus of a loop: that of an application, if one is passed; otherwise that of the application whose request is
 * being handled; outside a request, that of the only application of this process, also if that is still to be created.
 *
 * @throws TypeError for another value than an `App`
 * @throws Error outside a request, when there are several applications
 */
export function busOfListener(app: unknown): AppBus | Promise<AppBus> {
  if (app === undefined) return currentContext()?.get(APP_BUS) ?? processApps.firstAppBus();
  const bus = typeof app === "object" && app !== null ? processApps.busOfApp(app) : undefined;
  if (bus) return bus;
  throw new TypeError(`listen: the option app is of type ${typeof app}, and no App. Pass what new App has returned.`);
}

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
