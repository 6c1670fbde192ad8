import { type RPCError, statusOf } from "../errors.ts";
import {
  CLOSE,
  isSameOrigin,
  jsonReply,
  Refusal,
  type Reply,
  type RequestContext,
  readBody,
  refuseDeclaredTooLarge,
  siteOriginsOf,
} from "../http/index.ts";
import type { Log } from "../log.ts";
import { toJson } from "../serialize.ts";
import { bindArguments } from "./arguments.ts";
import { readArguments } from "./body.ts";
import { errorJson, failureOf } from "./failure.ts";
import { answerStream } from "./ndjson.ts";
import { type Definition, isAllowed, signInFirst } from "./server.ts";

/** The functions of an application, by name. */
export type Functions = ReadonlyMap<string, Definition>;

/**
 * Answers one call, in the order of the design's section 4: method, content type, origin,
 * function, authentication, body, arguments, run, serialise.
 */
export async function answerCall(
  context: RequestContext,
  name: string,
  functions: Functions,
  log: Log,
): Promise<Reply> {
  try {
    refuseOtherMethods(context.raw);
    refuseOtherTypes(context.raw.headers);
    refuseForeignOrigins(context, log);
    const definition = findFunction(functions, name);
    refuseDeclaredTooLarge(context.raw.headers);
    refuseSignedOut(definition);
    const args = bindArguments(definition.signature, readArguments(await readBody(context.raw)));
    if (definition.signature.stream) return await answerStream(context, definition, args, log);
    return jsonReply(200, `{"result":${toJson(await definition.run(...args))}}`);
  } catch (error) {
    return errorReply(failureOf(error, context, log, `The call of ${name}`), context, log);
  }
}

function refuseOtherMethods({ method }: Request): void {
  if (method === "POST") return;
  throw new Refusal("validation_error", `A server function is called with POST, not ${method}.`, {
    status: 405,
    headers: { allow: "POST", ...CLOSE },
  });
}

/** A content type that a plain form cannot send: it takes a script, and so the browser's own checks. */
function refuseOtherTypes(headers: Headers): void {
  const type = headers.get("content-type") ?? "";
  if (/^application\/json\s*(;|$)/i.test(type)) return;
  throw new Refusal("validation_error", "The content type of a call must be application/json.", {
    status: 415,
    headers: CLOSE,
  });
}

function refuseForeignOrigins(context: RequestContext, log: Log): void {
  const { headers } = context.raw;
  const origin = headers.get("origin");
  const fetchSite = headers.get("sec-fetch-site");
  if (origin === null && fetchSite === null) return; // a script: it asks no browser for a cookie
  const sites = siteOriginsOf(context);
  if (isSameOrigin({ origin, fetchSite, sites })) return;
  log.warn(
    { id: context.id, origin, fetchSite, sites },
    "A call from another origin was refused. If that origin is this site, set WEB_ORIGIN to it, or WEB_TRUST_PROXY to the number of proxies in front",
  );
  throw new Refusal("forbidden", "A call from another site is not taken.", { headers: CLOSE });
}

/** Finds a function by its segment of the path, where a name beyond ASCII stands percent-encoded. */
function findFunction(functions: Functions, segment: string): Definition {
  const definition = functions.get(decodeURIComponent(segment)); // the pipeline has refused what cannot be decoded
  if (definition) return definition;
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
