import { AsyncLocalStorage } from "node:async_hooks";
import type { RequestContext } from "./request-context.ts";

// Lives as long as the process. It holds no request itself: Node associates the store with asynchronous calls.
const storage = new AsyncLocalStorage<RequestContext | undefined>();

/**
 * Runs work outside of traces; `undefined` without a tracing SDK. The process has one SDK for all its applications, which
 * lives as long as the process.
 */
let runOutsideTraces: (<T>(work: () => T) => T) | undefined;

/** Sets the function that runs work outside of traces. */
export function setTraceExit(run: <T>(work: () => T) => T): void {
  runOutsideTraces = run;
}

/**
 * Runs `work` in the context of a request, and in its trace. Everything that it calls, awaits and schedules has the same
 * context.
 */
export function runInContext<T>(context: RequestContext, work: () => T): T {
  const { trace } = context;
  return trace ? trace.run(() => storage.run(context, work)) : storage.run(context, work);
}

/**
 * Runs `work` without the context of a request, and outside of its trace. Use it to create timers and connections that outlive the request that
 * happened to create them.
 */
export function runOutsideRequests<T>(work: () => T): T {
  // Not `storage.exit`: Node 20 switches its hooks off and on for it, which takes 50 times as long.
  return runOutsideTraces ? runOutsideTraces(() => storage.run(undefined, work)) : storage.run(undefined, work);
}

/** Returns the context of the current request; `undefined` outside a request. */
export function currentContext(): RequestContext | undefined {
  return storage.getStore();
}

/**
 * Returns the context of the current request.
 *
 * @param caller the public function or property that needs it, for the error message, such as `session.user()`
 * @throws Error outside a request
 */
export function requireContext(caller: string): RequestContext {
  const context = storage.getStore();
  if (context) return context;
  throw new Error(
    `${caller} was used outside a request. It works inside a page, a server function or a route, and in code that ` +
      "they call or start. Do not use it at module level, or in a timer that module-level code started.",
  );
}
