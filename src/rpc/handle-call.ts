import { readBody } from "../bodies/index.ts";
import {
  awaitMaybe,
  type HandlerResponse,
  isPromise,
  jsonResponse,
  keepInMemory,
  type MaybeAsync,
  type RequestContext,
  RequestError,
  requireSameOrigin,
} from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { BUILD_HEADER, toJson } from "../protocol/index.ts";
import { type ConcurrencyLimit, clientKey, type RateStore, STREAM_RETRY_SECONDS } from "../rate-limit/index.ts";
import { bindArguments, readArguments } from "./arguments.ts";
import { logHandwrittenCall, withSimilarName } from "./call-advice.ts";
import {
  type BuildSettings,
  requireFunction,
  requireJson,
  requirePost,
  requireRateLeft,
  requireSameSignature,
  requireSignIn,
} from "./call-checks.ts";
import { callRedirect } from "./call-redirect.ts";
import { callerError, callerErrorOfFunction, errorResponse, showInDevelopment } from "./caller-error.ts";
import { requireCsrfToken, trackSignIn } from "./csrf.ts";
import { handleStream } from "./handle-stream.ts";
import { adviseOfMaxBody, maxCallBody } from "./max-body.ts";
import type { FunctionDefinition } from "./server.ts";
import { compileParameterChecks, type ParameterChecks } from "./strict-checks.ts";
import { withTimeLimit } from "./time-limit.ts";
import { validateArguments } from "./validate.ts";

/** The server functions of an application, by name. */
export type FunctionsByName = ReadonlyMap<string, FunctionDefinition>;

/** The settings that all calls of an application share. */
export interface CallSettings extends BuildSettings {
  /** The application's base, which is prepended to redirects. */
  readonly base: string;
  readonly functions: FunctionsByName;
  readonly log: AppLog;
  /** The store that counts calls; `null` if calls are not limited. */
  readonly rate: RateStore | null;
  /** The default time limit of a call, in seconds. A function's own option takes precedence. */
  readonly rpc_timeout?: number | undefined;
  /** The default maximum of a body, in bytes; absent for 1 MiB. A function's own option takes precedence. */
  readonly max_body?: number | undefined;
  /** Limits how many streams a client may have open at once. */
  readonly openStreams: ConcurrencyLimit;
  /** Whether callers receive the message of a result that cannot be sent. */
  readonly development?: true;
  /** The checks of a strict application; `null` if it is not strict. */
  readonly strict: ChecksByFunction | null;
}

/** The checks of a strict application, by the name of the function. */
export type ChecksByFunction = ReadonlyMap<string, ParameterChecks>;

/** Compiles the checks of a strict application. This is done once, when the application starts. */
export function compileChecks(functions: FunctionsByName): ChecksByFunction {
  return new Map(
    [...functions].map(([name, { signature, options }]) => [
      name,
      compileParameterChecks(signature, (parameter) => Object.hasOwn(options.validate ?? {}, parameter)),
    ]),
  );
}

/**
 * Handles one call: method, content type, origin, rate limit, function, sign-in and CSRF token, build of the page, body,
 * arguments, run, serialisation, in this order.
 *
 * It completes synchronously if the body is already there and the function returns a value instead of a promise.
 * An error on the way becomes the response, so that it never throws.
 *
 * @see docs/protocol.md 3.2
 */
export function* handleCall(
  context: RequestContext,
  name: string,
  settings: CallSettings,
): MaybeAsync<HandlerResponse> {
  const { log } = settings;
  const match = findFunction(settings.functions, name);
  const signIn = trackSignIn(context);
  try {
    requirePost(context.inbound, match);
    requireJson(context.inbound, name);
    requireSameOrigin(context, log, "call");
    const wait = countAgainstRate(context, settings);
    requireRateLeft(isPromise(wait) ? yield* awaitMaybe(wait) : wait);
    const version = context.inbound.header(BUILD_HEADER);
    if (!match) requireSameSignature(match, version, settings);
    const definition = requireFunction(match);
    requireSignIn(definition);
    requireCsrfToken(context, definition);
    requireSameSignature(definition, version, settings);
    const body = readBody(context, maxCallBody(definition, settings.max_body));
    const args = bindArguments(
      definition.signature,
      readArguments(isPromise(body) ? yield* awaitMaybe(body) : body),
      settings.strict?.get(definition.signature.name),
    );
    const response = definition.signature.stream
      ? respondWithStream(context, definition, args, settings)
      : respondWithResult(context, definition, args, settings);
    return signIn.withFreshToken("status" in response ? response : yield* response);
  } catch (error) {
    if (match) adviseOfMaxBody(error, context, match, { kind: "call", fallback: settings.max_body });
    if (settings.development) logHandwrittenCall(error, context, log);
    const forCaller = callerError(error, context, log, `The call of ${name}`);
    const shown = match ? showInDevelopment(error, forCaller, settings) : withSimilarName(forCaller, name, settings);
    return signIn.withFreshToken(errorResponse(shown, context, log));
  }
}

/**
 * Finds a function by its path segment: its name, in which characters other than letters, digits and `_` may be
 * percent-encoded or not. A path whose other characters are encoded was refused before, so that such a name has one spelling.
 *
 * @see docs/protocol.md 2.2 and 3.1
 */
export function findFunction(functions: FunctionsByName, segment: string): FunctionDefinition | undefined {
  if (!segment.includes("%")) return functions.get(segment);
  try {
    return functions.get(decodeURIComponent(segment));
  } catch {
    return undefined; // broken percent-encoding
  }
}

/** Counts a call. Returns the seconds until the client may call again: 0 if it may call now. */
export function countAgainstRate(
  { address }: RequestContext,
  { rate }: Pick<CallSettings, "rate">,
): number | Promise<number> {
  return rate === null ? 0 : rate.take(clientKey(address));
}

/** Validates arguments with the schemas of their function. Without schemas they are returned as they are. */
export function applySchemas(
  { signature, options }: FunctionDefinition,
  args: unknown[],
): unknown[] | Promise<unknown[]> {
  return options.validate ? validateArguments(signature, { schemas: options.validate, args }) : args;
}

function* respondWithStream(
  context: RequestContext,
  definition: FunctionDefinition,
  boundArgs: unknown[],
  { base, openStreams, log, development }: CallSettings,
): MaybeAsync<HandlerResponse> {
  const args = yield* awaitMaybe(applySchemas(definition, boundArgs));
  const release = openStreams.acquire(context.address);
  if (release) {
    const releaseBody = context.keepBody();
    context.onBodyReleased(keepInMemory(context.inbound));
    const releaseAll = () => {
      release();
      releaseBody();
    };
    try {
      const call = { args, base, log, development, release: releaseAll };
      return yield* awaitMaybe(handleStream(context, definition, call));
    } catch (error) {
      releaseAll(); // the session cannot be checked, so there is no stream that would end
      throw error;
    }
  }
  const message = `Too many open streams: the limit is ${openStreams.maxPerClient} for one client.`;
  throw new RequestError("rate_limited", message, { details: { retry_after: STREAM_RETRY_SECONDS } });
}

/**
 * Runs a function within its time limit, which includes the time that its schemas take.
 *
 * @returns the response, or the steps to it if the function returned a promise
 */
function respondWithResult(
  context: RequestContext,
  definition: FunctionDefinition,
  args: unknown[],
  settings: CallSettings,
): HandlerResponse | MaybeAsync<HandlerResponse> {
  const { options, run } = definition;
  const call: RunningCall = { context, definition, settings, isRunning: !options.validate };
  const work = call.isRunning ? () => run(...args) : () => validateAndRun(call, args);
  let result: unknown;
  try {
    result = withTimeLimit(context, options.rpc_timeout ?? settings.rpc_timeout, work);
  } catch (error) {
    return failedResponse(call, error);
  }
  return isPromise(result) ? respondWhenSettled(call, result) : resultResponse(call, result);
}

/** A call whose function runs, or whose schemas do. */
interface RunningCall {
  readonly context: RequestContext;
  readonly definition: FunctionDefinition;
  readonly settings: CallSettings;
  /** Whether the function has started: before, its schemas run. */
  isRunning: boolean;
}

async function validateAndRun(call: RunningCall, args: unknown[]): Promise<unknown> {
  const values = await applySchemas(call.definition, args);
  call.isRunning = true;
  return call.definition.run(...values);
}

function* respondWhenSettled(call: RunningCall, promise: PromiseLike<unknown>): MaybeAsync<HandlerResponse> {
  let result: unknown;
  try {
    result = yield promise;
  } catch (error) {
    return failedResponse(call, error);
  }
  return resultResponse(call, result);
}

function resultResponse({ definition, settings }: RunningCall, result: unknown): HandlerResponse {
  const redirect = callRedirect(result, settings.base);
  return redirect ?? jsonResponse(200, `{"result":${toJson(result, definition.serialization)}}`);
}

/** Returns the response to a redirect that was thrown. Throws what the caller receives of any other error. */
function failedResponse({ context, definition, settings, isRunning }: RunningCall, error: unknown): HandlerResponse {
  const response = callRedirect(error, settings.base);
  if (response) return response;
  // A TypeError of a schema is a bug, not a message for the caller as a TypeError of the function would be.
  if (!isRunning) throw error;
  const operation = `The call of ${definition.signature.name}`;
  throw showInDevelopment(error, callerErrorOfFunction(error, context, settings.log, operation), settings);
}
