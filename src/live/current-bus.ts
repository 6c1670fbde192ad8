import { currentContext } from "../http/index.ts";
import { AppBus } from "./app-bus.ts";
import { onlyAppBus } from "./app-registry.ts";

/**
 * Returns the bus of the application whose request is being handled; outside a request, that of the only application
 * of this process.
 *
 * @param caller the public function, for the message
 * @throws Error outside a request, when there are several applications
 */
export function currentBus(caller: string): AppBus {
  const bus = currentContext()?.bus;
  return bus instanceof AppBus ? bus : onlyAppBus(caller);
}
