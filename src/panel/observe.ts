import { currentContext, isPromise, Redirect, type RequestContext } from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import type { CallSettings, FunctionDefinition } from "../rpc/index.ts";

/** Receives what functions do. Its methods must not throw. */
export interface FunctionObserver {
  /** Called before a server function runs for a call or a form, with its checked arguments. */
  functionStarted(context: RequestContext, definition: FunctionDefinition, args: readonly unknown[]): void;
  /** Called when a streaming function has yielded a value. */
  valueYielded(context: RequestContext): void;
  /** Called with an error that a function threw, or that was logged for a request. It may be called twice for one. */
  failed(requestId: string, error: unknown): void;
}

/** A call in progress of a function that is observed. */
interface ObservedCall {
  readonly context: RequestContext;
  readonly observer: FunctionObserver;
}

/** Returns server functions that report their runs to an observer. Calls from server code are not reported. */
export function observeFunctions(
  functions: CallSettings["functions"],
  observer: FunctionObserver,
): CallSettings["functions"] {
  return new Map([...functions].map(([name, definition]) => [name, observeFunction(definition, observer)]));
}

function observeFunction(definition: FunctionDefinition, observer: FunctionObserver): FunctionDefinition {
  const { run, signature } = definition;
  return {
    ...definition,
    run: (...args) => {
      const context = currentContext();
      if (!context) return run(...args);
      const call = { context, observer };
      observer.functionStarted(context, definition, args);
      try {
        const result = settleOnce(run(...args));
        if (signature.stream)
          observeGenerator(result as AnyIterator, call); // its signature has `stream`
        else if (isPromise(result)) void result.then(undefined, (error) => reportFailure(error, call));
        return result;
      } catch (error) {
        reportFailure(error, call);
        throw error;
      }
    },
  };
}

/**
 * Returns a promise in place of a value that is awaited like one. Some database libraries execute a query each time that
 * `then` is called, and the observer would be a second caller. Promises are returned as they are.
 */
function settleOnce(value: unknown): unknown {
  return isPromise(value) ? Promise.resolve(value) : value;
}

type AnyIterator = Iterator<unknown> | AsyncIterator<unknown>;

/** Replaces the method of a generator from which the stream of a call takes its values. */
function observeGenerator(generator: AnyIterator, call: ObservedCall): void {
  const next = generator.next.bind(generator);
  generator.next = (...values) => {
    try {
      const step = withSettledValue(next(...values));
      void reportStep(step, call);
      return step as never; // of the same kind as before: a promise, or not
    } catch (error) {
      reportFailure(error, call);
      throw error;
    }
  };
}

type Step = IteratorResult<unknown> | Promise<IteratorResult<unknown>>;

/** An asynchronous generator has awaited its values already. Nothing awaits the value with which a generator returns. */
function withSettledValue(step: Step): Step {
  return isPromise(step) || step.done ? step : { done: false, value: settleOnce(step.value) };
}

async function reportStep(pending: Step, call: ObservedCall): Promise<void> {
  const { context, observer } = call;
  try {
    const step = await pending;
    if (!step.done) await step.value;
    if (!step.done) observer.valueYielded(context);
  } catch (error) {
    reportFailure(error, call);
  }
}

/** A redirect is thrown too, and is no failure. */
function reportFailure(error: unknown, { context, observer }: ObservedCall): void {
  if (!(error instanceof Redirect)) observer.failed(context.id, error);
}

/** Returns a log that also reports the errors of requests to an observer. */
export function observeLog(log: AppLog, observer: FunctionObserver): AppLog {
  const report = (fields: { readonly id?: unknown; readonly err?: unknown }) => {
    if (typeof fields.id === "string" && fields.err !== undefined) observer.failed(fields.id, fields.err);
  };
  return {
    info: (fields, message) => log.info(fields, message),
    refused: (reason, fields, message) => log.refused(reason, fields, message),
    warn(fields, message) {
      report(fields);
      log.warn(fields, message);
    },
    error(fields, message) {
      report(fields);
      log.error(fields, message);
    },
  };
}
