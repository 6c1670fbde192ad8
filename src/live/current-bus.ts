import { ContextKey, currentContext } from "../http/index.ts";
import type { AppBus } from "./app-bus.ts";
import { onlyAppBus } from "./app-registry.ts";

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
  return currentContext()?.get(APP_BUS) ?? onlyAppBus(caller);
}
