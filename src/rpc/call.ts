import { RPCError, statusOf } from "../errors.ts";
import {
  CLOSE,
  type Inbound,
  isSameOrigin,
  jsonReply,
  Refusal,
  type Reply,
  type RequestContext,
  readBody,
  siteOriginsOf,
} from "../http/index.ts";
import { inSteps, ready, type Steps } from "../http/maybe-async.ts";
import type { Log } from "../logging/index.ts";
import type { Signature } from "../protocol/index.ts";
import { toJson } from "../protocol/index.ts";
import { clientKey, type Holding, type RateStore } from "../rate-limit/index.ts";
import { bindArguments } from "./arguments.ts";
import { readArguments } from "./body.ts";
import { refuseWithoutToken, watchSignIn } from "./csrf.ts";
import { errorJson, failureOf, functionFailureOf } from "./failure.ts";
import { answerStream } from "./ndjson.ts";
import { type Definition, isAllowed, signInFirst } from "./server.ts";
import { type StrictChecks, strictChecks } from "./strict.ts";
import { withinTime } from "./time-limit.ts";
import { validateArguments } from "./validate.ts";

/** The functions of an application, by name. */
export type Functions = ReadonlyMap<string, Definition>;

/** What all calls of an application share. */
export interface CallSettings {
  readonly functions: Functions;
  readonly log: Log;
  /** Where calls are counted; `null`: nowhere. */
  readonly rate: RateStore | null;
  /** How long a call may take, in seconds, where its function says nothing else. */
  readonly rpc_timeout?: number | undefined;
  /** Counts the streams that each client has open. */
  readonly open: Holding;
  /** What a strict application checks, by function; `null`: no more than is coerced. */
  readonly strict: AllChecks | null;
}

/** What a strict application checks of its functions, by their names. */
export type AllChecks = ReadonlyMap<string, StrictChecks>;

/** Makes the checks of a strict application, once for all its calls. */
export function checksOf(functions: Functions): AllChecks {
  return new Map(
    [...functions].map(([name, { signature, options }]) => [
      name,
      strictChecks(signature, (parameter) => Object.hasOwn(options.validate ?? {}, parameter)),
    ]),
  );
}

/**
 * Answers one call, at once where nothing in it has to be waited for: with its body there, and a function
 * that gives its result rather than a promise of it.
 */
export function answerCall(context: RequestContext, name: string, settings: CallSettings): Reply | Promise<Reply> {
  return inSteps(stepsOfCall(context, name, settings));
}

/**
 * Takes a call the whole way, in the order of the design's section 4: method, content type, origin, rate,
 * function, authentication and token, body, arguments, run, serialise.
 */
function* stepsOfCall(context: RequestContext, name: string, settings: CallSettings): Steps<Reply> {
  const { log } = settings;
  const found = findFunction(settings.functions, name);
  const signIn = watchSignIn(context);
  try {
    refuseOtherMethods(context.inbound, found);
    refuseOtherTypes(context.inbound);
    refuseForeignOrigins(context, log);
    refuseTooMany(yield* ready(countCall(context, settings)), context, settings);
    const definition = refuseUnknown(found);
    refuseSignedOut(definition);
    refuseWithoutToken(context, definition);
    const args = bindArguments(
      definition.signature,
      readArguments(yield* ready(readBody(context.inbound))),
      settings.strict?.get(definition.signature.name),
    );
    const reply = definition.signature.stream
      ? yield* startStream(context, definition, args, settings)
      : yield* answerOnce(context, definition, args, settings);
    return signIn.withFreshToken(reply);
  } catch (error) {
    return signIn.withFreshToken(errorReply(failureOf(error, context, log, `The call of ${name}`), context, log));
  }
}

/** Holds arguments to the schemas of their function; without any, they are as they were. */
function validated({ signature, options }: Definition, args: unknown[]): unknown[] | Promise<unknown[]> {
  return options.validate ? validateArguments(signature, options.validate, args) : args;
}

function* startStream(
  context: RequestContext,
  definition: Definition,
  given: unknown[],
  { open, log }: CallSettings,
): Steps<Reply> {
  const args = yield* ready(validated(definition, given));
  const release = open.hold(context.address);
  if (release) return yield* ready(answerStream(context, definition, { args, log, release }));
  warnOfNoAddress(context, log);
  throw new RPCError("rate_limited", `Too many streams are open at once: ${open.most} is the most for one client.`);
}

/** Runs a function within its time, which its schemas take part of. */
function* answerOnce(
  context: RequestContext,
  definition: Definition,
  args: unknown[],
  { log, rpc_timeout }: CallSettings,
): Steps<Reply> {
  const { options, run, signature } = definition;
  let result: unknown;
  let isRunning = !options.validate;
  const validateAndRun = async () => {
    const values = await validated(definition, args);
    isRunning = true;
    return run(...values);
  };
  try {
    const work = isRunning ? () => run(...args) : validateAndRun;
    result = yield* ready(withinTime(context, options.rpc_timeout ?? rpc_timeout, work));
  } catch (error) {
    // What a schema throws is no refusal of the function's, as a TypeError of its own would be.
    throw isRunning ? functionFailureOf(error, context, log, `The call of ${signature.name}`) : error;
  }
  return jsonReply(200, `{"result":${toJson(result)}}`);
}

/** Says with it how the function is called: from elsewhere, types tell what it takes but no names. */
function refuseOtherMethods({ method }: Inbound, definition: Definition | undefined): void {
  if (method === "POST") return;
  throw new Refusal("validation_error", `A server function is called with POST, not ${method}.`, {
    status: 405,
    headers: { allow: "POST", ...CLOSE },
    details: definition ? shapeOf(definition.signature) : {},
  });
}

function shapeOf({ params, keyed, stream }: Signature): Readonly<Record<string, unknown>> {
  return {
    parameters: params.map((parameter) => parameter.name),
    ...(keyed ? { keyed } : {}),
    ...(stream ? { stream } : {}),
  };
}

/** A content type that a plain form cannot send: it takes a script, and so the browser's own checks. */
function refuseOtherTypes(inbound: Inbound): void {
  const type = inbound.header("content-type") ?? "";
  if (/^application\/json\s*(;|$)/i.test(type)) return;
  throw new Refusal("validation_error", "The content type of a call must be application/json.", {
    status: 415,
    headers: CLOSE,
  });
}

/** The most of a header that is logged: any origin has room. Who is refused here is not counted by the rate. */
const MOST_LOGGED = 300;

function refuseForeignOrigins(context: RequestContext, log: Log): void {
  const origin = context.inbound.header("origin");
  const fetchSite = context.inbound.header("sec-fetch-site");
  if (origin === null && fetchSite === null) return; // a script: it asks no browser for a cookie
  const sites = siteOriginsOf(context);
  if (isSameOrigin({ origin, fetchSite, sites })) return;
  const [from, site] = [origin, fetchSite].map((header) => header?.slice(0, MOST_LOGGED) ?? null);
  log.warn(
    { id: context.id, origin: from, fetchSite: site, sites },
    "A call from another origin was refused. If that origin is this site, set WEB_ORIGIN to it, or WEB_TRUST_PROXY to the number of proxies in front",
  );
  throw new Refusal("forbidden", "A call from another site is not taken.", { headers: CLOSE });
}

/** Counts a call, and gives how many seconds its client has to wait: 0 where it may call now. */
function countCall({ address }: RequestContext, { rate }: CallSettings): number | Promise<number> {
  return rate === null ? 0 : rate.take(clientKey(address));
}

function refuseTooMany(wait: number, context: RequestContext, { log }: CallSettings): void {
  if (wait === 0) return;
  const seconds = Math.max(1, Math.ceil(wait));
  warnOfNoAddress(context, log);
  throw new Refusal("rate_limited", `Too many calls. Try again in ${seconds} seconds.`, {
    headers: { "retry-after": String(seconds), ...CLOSE },
  });
}

/** Says why everybody was refused, where a host does not tell who asks. */
function warnOfNoAddress({ address, id }: RequestContext, log: Log): void {
  if (address !== "") return;
  log.warn({ id }, "Calls come without an address, so all visitors are counted as one: give app.fetch { address }");
}

/** Finds a function by its segment of the path, where a name beyond ASCII stands percent-encoded. */
function findFunction(functions: Functions, segment: string): Definition | undefined {
  return functions.get(segment) ?? functions.get(decodeURIComponent(segment)); // the pipeline has refused what cannot be decoded
}

function refuseUnknown(found: Definition | undefined): Definition {
  if (found) return found;
  throw new Refusal("not_found", "There is no server function of that name.", { headers: CLOSE });
}

function refuseSignedOut(definition: Definition): void {
  if (isAllowed(definition)) return;
  const { code, message } = signInFirst(definition);
  throw new Refusal(code, message, { headers: CLOSE });
}

function errorReply(error: RPCError, context: RequestContext, log: Log): Reply {
  const [status, headers] = error instanceof Refusal ? [error.status, error.headers] : [statusOf(error.code), {}];
  return jsonReply(status, `{"error":${errorJson(error, context, log)}}`, headers);
}
