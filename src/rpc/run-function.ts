/**
 * The run of a server function for a call or a form, from its arguments to the outcome that the response shows. A stream has
 * its own, in handle-stream.ts.
 */
import type { RPCError } from "../errors.ts";
import {
  type HandlerResponse,
  isPromise,
  jsonResponse,
  type MaybeAsync,
  PUBLISHED,
  type RedirectTarget,
  type RequestContext,
  redirectTarget,
} from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { MAX_PUBLISHED_CHANNELS, PUBLISHED_HEADER, REDIRECT_HEADER, toJson } from "../protocol/index.ts";
import { renewIdentity } from "../session/index.ts";
import { callerError, callerErrorOfFunction, errorResponse, showInDevelopment } from "./caller-error.ts";
import type { FunctionDefinition } from "./server.ts";
import { withTimeLimit } from "./time-limit.ts";

/** A function that is about to run. */
export interface FunctionRun {
  readonly context: RequestContext;
  readonly definition: FunctionDefinition;
  /** Its arguments, or a function that returns what the schemas make of them. */
  readonly args: readonly unknown[] | (() => readonly unknown[] | Promise<readonly unknown[]>);
  /** The subject of log lines: `The call of add`. */
  readonly operation: string;
  readonly settings: RunSettings;
}

/** The settings of the application that {@link runFunction} uses. */
interface RunSettings {
  /** The application's base, which is prepended to redirects. */
  readonly base: string;
  readonly log: AppLog;
  /** The time limit in seconds, unless the function has its own. */
  readonly rpc_timeout?: number | undefined;
  readonly development?: true | undefined;
}

/** What a function led to. */
export type FunctionOutcome = FunctionRedirect | FunctionResult | FunctionFailure;

/** The function returned or threw a redirect. */
export interface FunctionRedirect {
  readonly kind: "redirect";
  readonly target: RedirectTarget;
}

/** The function returned a value. */
export interface FunctionResult {
  readonly kind: "success";
  /** The result as JSON: `null` for nothing. */
  readonly json: string;
}

/** A schema or the function failed, or the result cannot be sent. */
export interface FunctionFailure {
  readonly kind: "failure";
  /** What the caller receives. */
  readonly error: RPCError;
  /** What was thrown. */
  readonly cause: unknown;
}

/**
 * Runs a function within its time limit, which includes the time that its schemas take. Does not throw.
 *
 * @returns the outcome, or the steps to it if the function or a schema returned a promise
 */
export function runFunction(run: FunctionRun): FunctionOutcome | MaybeAsync<FunctionOutcome> {
  const { context, definition, args, settings } = run;
  const progress: Progress = { isRunning: typeof args !== "function" };
  const work =
    typeof args === "function"
      ? () => validateAndRun(run, args, progress)
      : context.isBearer
        ? () => renewAndRun(run, args)
        : () => definition.run(...args);
  let result: unknown;
  try {
    result = withTimeLimit(context, definition.options.rpc_timeout ?? settings.rpc_timeout, work);
  } catch (error) {
    return outcomeOfError(run, error, progress);
  }
  return isPromise(result) ? settle(run, result, progress) : outcomeOfResult(run, result);
}

/** Whether the function has started: before, its schemas run. */
interface Progress {
  isRunning: boolean;
}

/** Runs a function after `authenticate` was called again, if its last result is older than 5 s: the body may have taken long. */
function renewAndRun({ context, definition }: FunctionRun, args: readonly unknown[]): unknown {
  const renewing = renewIdentity(context);
  return renewing ? renewing.then(() => definition.run(...args)) : definition.run(...args);
}

async function validateAndRun(
  { context, definition }: FunctionRun,
  validate: () => readonly unknown[] | Promise<readonly unknown[]>,
  progress: Progress,
): Promise<unknown> {
  const values = await validate();
  const renewing = renewIdentity(context);
  if (renewing) await renewing;
  progress.isRunning = true;
  return definition.run(...values);
}

function* settle(run: FunctionRun, promise: PromiseLike<unknown>, progress: Progress): MaybeAsync<FunctionOutcome> {
  let result: unknown;
  try {
    result = yield promise;
  } catch (error) {
    return outcomeOfError(run, error, progress);
  }
  return outcomeOfResult(run, result);
}

function outcomeOfResult(run: FunctionRun, result: unknown): FunctionOutcome {
  const target = redirectTarget(result, run.settings.base);
  if (target) return { kind: "redirect", target };
  try {
    return { kind: "success", json: toJson(result, run.definition.serialization) };
  } catch (error) {
    return failure(run, error, callerError); // a bug, whatever its error is
  }
}

function outcomeOfError(run: FunctionRun, error: unknown, { isRunning }: Progress): FunctionOutcome {
  const target = redirectTarget(error, run.settings.base);
  if (target) return { kind: "redirect", target };
  // A TypeError of a schema is a bug, not a message for the caller as a TypeError of the function would be.
  return failure(run, error, isRunning ? callerErrorOfFunction : callerError);
}

function failure(
  { context, operation, settings }: FunctionRun,
  cause: unknown,
  toCallerError: typeof callerError,
): FunctionFailure {
  const forCaller = toCallerError(cause, context, settings.log, operation);
  return { kind: "failure", error: showInDevelopment(cause, forCaller, settings), cause };
}

/**
 * Returns the response of a call to what its function led to. A redirect is no HTTP redirect, because `fetch` would follow it
 * and return the page: the stub opens the URL.
 *
 * @see docs/protocol.md 3.3 and 3.5
 */
export function outcomeResponse(outcome: FunctionOutcome, context: RequestContext, log: AppLog): HandlerResponse {
  switch (outcome.kind) {
    case "redirect":
      return redirectedCallResponse(outcome.target, publishedHeader(context));
    case "success":
      return jsonResponse(200, `{"result":${outcome.json}}`, publishedHeader(context));
    case "failure":
      return errorResponse(outcome.error, context, log);
  }
}

/**
 * Returns the response of a call that redirects: its result is `null`, and a header has the target.
 *
 * @see docs/protocol.md 3.5
 */
export function redirectedCallResponse(
  target: RedirectTarget,
  headers?: Readonly<Record<string, string>>,
): HandlerResponse {
  return jsonResponse(200, '{"result":null}', { ...headers, ...redirectHeader(target) });
}

/**
 * Returns the header with the channels to which a function has published, as far as the bus has stored the messages: those that
 * it has awaited. The last ones if there are more than the header may have.
 *
 * @see docs/protocol.md 3.10
 */
function publishedHeader(context: RequestContext): Readonly<Record<string, string>> | undefined {
  const published = context.get(PUBLISHED);
  if (!published) return undefined;
  const last = [...published].slice(-MAX_PUBLISHED_CHANNELS);
  return { [PUBLISHED_HEADER]: last.map((entry) => entry.join("=")).join() };
}

/** Returns the header that makes the stub open the target of a redirect. */
export function redirectHeader({ location }: RedirectTarget): Readonly<Record<string, string>> {
  return { [REDIRECT_HEADER]: location };
}
