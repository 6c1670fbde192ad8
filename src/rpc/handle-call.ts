import { readBody } from "../bodies/index.ts";
import {
  awaitMaybe,
  type HandlerResponse,
  isPromise,
  keepInMemory,
  type MaybeAsync,
  type RequestContext,
  RequestError,
  requireSameOrigin,
} from "../http/index.ts";
import { type CallCounter, requireLeft } from "../limits/index.ts";
import type { AppLog } from "../logging/index.ts";
import { BUILD_HEADER, IDEMPOTENCY_HEADER } from "../protocol/index.ts";
import { type ConcurrencyLimit, STREAM_RETRY_SECONDS } from "../rate-limit/index.ts";
import { adviseOfMaxBody, bindArguments, maxCallBody, readArguments } from "./arguments.ts";
import {
  type BuildSettings,
  requireCsrfToken,
  requireFunction,
  requireJson,
  requirePost,
  requireSameSignature,
  requireSignIn,
  trackSignIn,
} from "./call-checks.ts";
import { callerError, errorResponse, logHandwrittenCall, showInDevelopment, withSimilarName } from "./caller-error.ts";
import { handleStream } from "./handle-stream.ts";
import { type FunctionRun, outcomeResponse, runFunction } from "./run-function.ts";
import { runOnce } from "./run-once.ts";
import type { FunctionDefinition } from "./server.ts";
import { compileParameterChecks, type ParameterChecks } from "./strict-checks.ts";
import { validateArguments } from "./validate.ts";

/** The server functions of an application, by name. */
export type FunctionsByName = ReadonlyMap<string, FunctionDefinition>;

/** The settings that all calls of an application share. */
export interface CallSettings extends BuildSettings {
  /** The application's base, which is prepended to redirects. */
  readonly base: string;
  readonly functions: FunctionsByName;
  readonly log: AppLog;
  /** Counts calls. */
  readonly limits: CallCounter;
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
    const counted = settings.limits.countCall(context, match?.limits);
    requireLeft(isPromise(counted) ? yield* awaitMaybe(counted) : counted);
    const version = context.inbound.header(BUILD_HEADER);
    const definition = requireFunction(match, version, settings);
    requireSignIn(definition);
    requireCsrfToken(context, definition);
    requireSameSignature(definition, version, settings);
    const body = readBody(context, maxCallBody(definition, settings.max_body));
    const args = bindArguments(
      definition.signature,
      readArguments(isPromise(body) ? yield* awaitMaybe(body) : body),
      settings.strict?.get(definition.signature.name),
    );
    if (definition.signature.stream) {
      context.isRead = true;
      return signIn.withFreshToken(yield* respondWithStream(context, definition, args, settings));
    }
    const run: FunctionRun = {
      context,
      definition,
      args:
        definition.options.validate || definition.limits?.by
          ? () => countArguments(definition, applySchemas(definition, args), settings)
          : args,
      operation: `The call of ${definition.signature.name}`,
      settings,
    };
    const outcome = definition.options.idempotent
      ? runOnce(run, { key: context.inbound.header(IDEMPOTENCY_HEADER), fields: () => JSON.stringify(args) })
      : runFunction(run);
    return signIn.withFreshToken(outcomeResponse("kind" in outcome ? outcome : yield* outcome, context, log));
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

/** Validates arguments with the schemas of their function. Without schemas they are returned as they are. */
export function applySchemas(
  { signature, options }: FunctionDefinition,
  args: unknown[],
): unknown[] | Promise<unknown[]> {
  return options.validate ? validateArguments(signature, { schemas: options.validate, args }) : args;
}

/**
 * Counts a call by its arguments, which were checked, if its function has a count for that. Returns the arguments.
 *
 * @throws RequestError `rate_limited`
 * @see docs/protocol.md 9.2
 */
export function countArguments<Args extends readonly unknown[]>(
  { limits }: FunctionDefinition,
  args: Args | Promise<Args>,
  settings: Pick<CallSettings, "limits">,
): Args | Promise<Args> {
  if (!limits?.by) return args;
  const count = async (): Promise<Args> => {
    const values = await args;
    requireLeft(await settings.limits.countArguments(limits, values), { hasBody: true });
    return values;
  };
  return count();
}

function* respondWithStream(
  context: RequestContext,
  definition: FunctionDefinition,
  boundArgs: unknown[],
  settings: CallSettings,
): MaybeAsync<HandlerResponse> {
  const { base, openStreams, log, development } = settings;
  const args = yield* awaitMaybe(countArguments(definition, applySchemas(definition, boundArgs), settings));
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
