import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import type { QueryRun, RequestContext } from "./request-context.ts";

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

/** Created outside every request. It lives as long as the process. */
const outside = new AsyncResource("tsweb outside requests");

/**
 * Runs `work` in a context of its own, with nothing of the current request: neither its trace, nor what the application itself has
 * stored for it in an `AsyncLocalStorage`, such as the user, which a run for several users must not find.
 */
export function runDetached<T>(context: RequestContext, work: () => T): T {
  return outside.runInAsyncScope(() => runInContext(context, work));
}

/** Returns the context of the current request; `undefined` outside a request. */
export function currentContext(): RequestContext | undefined {
  return storage.getStore();
}

/**
 * Returns the context of the current request.
 *
 * @param caller the public function or property that needs it, for the error message, such as `request.path`
 * @throws Error outside a request, and in a query, which has none
 */
export function requireContext(caller: string): RequestContext {
  const context = storage.getStore();
  if (context && !context.queryRun) return context;
  throw context?.queryRun ? queryError(caller, context.queryRun) : outsideError(caller);
}

/**
 * Returns the context whose session is read: that of the current request, or that of the run of a query for one sign-in.
 *
 * @throws Error outside a request, while a page is rendered for all clients, and in a run of a query that several sign-ins share. The run is then recorded as one that has
 *   read the session, so that it has no effect to catch the error.
 */
export function requireSessionContext(caller: string): RequestContext {
  const context = storage.getStore();
  if (!context) throw outsideError(caller);
  if (!context.queryRun?.isShared) {
    context.useClient(caller);
    return context;
  }
  context.queryRun.hasReadSession = true;
  throw new Error(
    `${caller} was read in a run of the query ${context.queryRun.name} for several sign-ins. tsweb discards this run, and runs the ` +
      "query for each sign-in. Let the query end with this error.",
  );
}

function outsideError(caller: string): Error {
  return new Error(
    `${caller} was used outside a request. It works inside a page, a server function or a route, and in code that ` +
      "they call or start. Do not use it at module level, or in a timer that module-level code started.",
  );
}

function queryError(caller: string, { name }: QueryRun): Error {
  return new Error(
    `${caller} was used in the query ${name}, which runs outside every request: its value is for all who see the same. Pass what ` +
      "it needs of the request as an argument, or do this in the page or server function. A query may read the session.",
  );
}

/**
 * Throws in a run of a query, which only reads.
 *
 * @param caller the public function that would change something
 */
export function rejectInQuery(caller: string): void {
  const run = storage.getStore()?.queryRun;
  if (!run) return;
  throw new Error(
    `${caller} was called in the query ${run.name}. A query only reads, because it runs again whenever one of its channels has a ` +
      "message. Do this in the server function that makes the change.",
  );
}

/**
 * Returns the context of the current request as {@link requireContext}, and records that the application uses something that
 * belongs to its client.
 *
 * @throws Error outside a request, and while a page is rendered for all clients
 */
export function requireClientContext(caller: string): RequestContext {
  const context = requireContext(caller);
  context.useClient(caller);
  return context;
}
