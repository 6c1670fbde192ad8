/**
 * The applications of this process, and the bus that `realtime.use_bus` installed.
 *
 * This is module-level state because its lifetime is the process's: outside a request, `publish` has no other way to
 * find its application, and `use_bus` is called before the first `new App`.
 */

import { type Bus, isMemoryBus } from "../backends/index.ts";
import { createConsoleLogger } from "../logging/index.ts";
import { AppBus } from "./app-bus.ts";

/** The bus of each application that is open. */
const apps = new Set<AppBus>();

/**
 * The bus while no application is open: before the first one a bus in memory, then that of the application that was
 * closed last, which rejects every use.
 */
let fallbackBus = new AppBus({ busUrl: undefined, busNamespace: "", log: createConsoleLogger(), fingerprints: [] });

let installedBus: Bus | null = null;

/** Whether this process is a development server, which makes a new App after every edit. */
let isDevelopment = false;

/**
 * Adds an application. In a development server it replaces the earlier one, which is not closed: both use one bus, so
 * that messages of the earlier one are delivered to subscribers of the new one.
 */
export function addApp(app: AppBus): void {
  if (installedBus) app.set(installedBus);
  apps.add(app);
  if (isDevelopment) replaceEarlierApps(app);
}

/** Removes an application, and closes its bus unless another application uses the same. A second call has no effect. */
export async function removeApp(app: AppBus): Promise<void> {
  if (!apps.delete(app)) return;
  const bus = app.close();
  if (apps.size === 0) fallbackBus = app;
  if (bus === null || [...apps].some(({ current }) => current === bus)) return;
  if (bus === installedBus) installedBus = null;
  await bus.close();
}

/** Marks this process as a development server, and the application as its current one. */
export function setDevelopmentApp(app: AppBus): void {
  isDevelopment = true;
  if (apps.has(app)) replaceEarlierApps(app); // otherwise an edit has replaced it while it was loading
}

/**
 * Returns the bus for code outside a request: that of the only application of this process.
 *
 * @param caller the public function, for the message
 * @throws Error when there are several applications
 */
export function onlyAppBus(caller: string): AppBus {
  if (apps.size > 1) {
    throw new Error(
      `${caller} was called outside a request, and this process has ${apps.size} applications. ` +
        "Call app.publish(name, data) of the application that the message is for, or close the other applications.",
    );
  }
  const [onlyApp = fallbackBus] = apps;
  return onlyApp;
}

/**
 * Installs a bus for all current and later applications of this process, and closes the bus that was used before.
 *
 * @param options.isReplaceable whether a bus in use may be replaced; messages that were published to it are lost
 * @returns whether the bus was installed
 */
export function installBus(bus: Bus, { isReplaceable }: { readonly isReplaceable: boolean }): boolean {
  const buses = [...apps, fallbackBus];
  const inUse = new Set([installedBus, ...buses.map(({ current }) => current)]);
  inUse.delete(null);
  if (inUse.size > 0 && !isReplaceable) return false;
  installedBus = bus;
  for (const appBus of buses) appBus.set(bus);
  for (const previous of inUse) if (previous !== bus) void previous?.close();
  return true;
}

function replaceEarlierApps(app: AppBus): void {
  for (const earlier of apps) {
    if (earlier === app) continue;
    apps.delete(earlier);
    earlier.replaceBy(app);
  }
}

/** Returns whether `realtime.use_bus` has installed a bus that processes share: any but one in memory. */
export function hasSharedBus(): boolean {
  return installedBus !== null && !isMemoryBus(installedBus);
}
