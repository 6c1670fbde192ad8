import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type ErrorCode, RPCError } from "../errors.ts";
import {
  awaitMaybe,
  ContextKey,
  isDisconnection,
  type MaybeAsync,
  type RedirectTarget,
  RequestError,
  randomHex,
  run as runToEnd,
} from "../http/index.ts";
import { RATE_STORE } from "../limits/index.ts";
import { CountLimit, clientKey, outcomeBytes, retryAdvice } from "../rate-limit/index.ts";
import { countedUser, sessionId } from "../session/index.ts";
import { type FunctionOutcome, type FunctionRun, runFunction } from "./run-function.ts";
import { isAllowed, unauthenticatedError } from "./server.ts";

/** Where the outcomes of idempotent functions are kept: an `OutcomeStore` of the application's bus. */
export interface Outcomes {
  claim(key: string, text: string): Promise<string | null>;
  write(key: string, text: string): Promise<void>;
  remove(key: string): Promise<void>;
  /** Returns whether half of the space is used. */
  isHalfFull(): boolean;
}

/** The outcomes of the application of a request. */
export const OUTCOMES = new ContextKey<Outcomes>();

/** The largest outcome that is kept, in bytes of JSON. */
export const MAX_OUTCOME_BYTES = 64 * 1024;

/** The largest outcome that is kept while half of the space is used: most redirects, and results of a few fields. */
const SMALL_OUTCOME_BYTES = 1024;

/** How long a request waits for the first run of its submission, in milliseconds. */
const WAIT_MS = 10_000;

/** The pauses between two looks at a run that another request has started, in milliseconds. */
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 400;

/** The bytes of outcomes that are kept for one client: 4 MiB in 10 minutes, the time for which they are kept. */
const CLIENT_RATE = { calls: 4 * 1024 * 1024, seconds: 600 };
const CLIENT_LIMIT = new CountLimit("once", CLIENT_RATE, "one client");

/**
 * The bytes that all users and signed-out clients of one address may add while half of the space is used. Otherwise one person with
 * many accounts could fill it, and all others would be refused.
 */
const ADDRESS_LIMIT = new CountLimit("once-address", CLIENT_RATE, "all clients of one address");

/** A key: long enough that nobody guesses one that was made at random. */
const KEY_PATTERN = /^[\w-]{16,128}$/;

/** The text of a record whose run is under way, or was cut off: this, and a random text. */
const RUNNING = "?";

/** The text of a record whose outcome is not known, or was not kept. */
const UNKNOWN = "!";

/** One sending of a call or a form. */
export interface Submission {
  /** The key that the page has made for it; `null` without one: then each sending runs. */
  readonly key: string | null | undefined;
  /** All that is sent, as a text. */
  readonly fields: () => string;
}

/**
 * Runs a function as `runFunction`; one with the option `idempotent` once for each submission: for its function, sign-in, key and fields.
 * Each further sending within 10 minutes has the outcome of the first one, in every process. One that arrives meanwhile waits for up to
 * 10 seconds. If the outcome is still not known, because the first run goes on or was cut off, the outcome is `conflict` with
 * `details.unknown`. Nothing is kept of a run that has changed the sign-in, and of arguments that were refused before the function ran.
 *
 * @throws RequestError `rate_limited` if too much is kept for the client, or for its address while half of the space is used
 * @throws RPCError `validation_error` for an invalid key
 * @throws Error while the store is unreachable: nothing has run then
 * @see docs/protocol.md 15.8
 */
export function runOnce(run: FunctionRun, submission: Submission): FunctionOutcome | MaybeAsync<FunctionOutcome> {
  const { key } = submission;
  if (!run.definition.options.idempotent || key === null || key === undefined) return runFunction(run);
  return awaitMaybe(runWithKey(run, { key, fields: submission.fields() }));
}

async function runWithKey(
  run: FunctionRun,
  { key, fields }: { readonly key: string; readonly fields: string },
): Promise<FunctionOutcome> {
  const { context, definition, settings } = run;
  if (!KEY_PATTERN.test(key)) throw invalidKeyError();
  const outcomes = context.get(OUTCOMES);
  if (!outcomes) throw new Error("An idempotent function was called in a request that belongs to no application.");
  const sid = sessionId(context);
  const record = createHash("sha256")
    .update(JSON.stringify([definition.signature.name, sid, key, fields]))
    .digest("base64url");
  const own = RUNNING + randomHex(8);
  const earlier = await claim(run, { outcomes, record, own });
  if (earlier !== null) {
    if (!isAllowed(definition.options)) throw unauthenticatedError(); // the session may have ended while it waited
    return earlier;
  }
  await countBytes(run, outcomes, outcomeBytes(own)).catch(async (error: unknown) => {
    await outcomes.remove(record);
    throw error;
  });
  let isStarted = false;
  const watched: FunctionRun["definition"] = {
    ...definition,
    run: (...args) => {
      isStarted = true;
      return definition.run(...args);
    },
  };
  const running = runFunction({ ...run, definition: watched });
  const outcome = "kind" in running ? running : await runToEnd(running);
  try {
    if (!isStarted || sessionId(context) !== sid) await outcomes.remove(record);
    else {
      const text = await textToKeep(run, outcome, { outcomes, own });
      // Runs that end at the same time have all been counted before the first text is stored.
      await outcomes.write(record, hasSpaceFor(text, outcomes) ? text : UNKNOWN);
    }
  } catch (error) {
    // The function has run, so its outcome is the response. To later sendings, it is not known: a full store replaces a claim by
    // this shorter text, so that they do not wait. Otherwise they wait for a run that has ended.
    settings.log.warn({ err: error }, `The outcome of ${definition.signature.name} could not be kept`);
    if (isStarted) giveUp(outcomes, { record, own }).catch(() => undefined);
  }
  return outcome;
}

/** Replaces the claim of a run by the text that its outcome is not known, unless the outcome is stored, and only that was not confirmed. */
async function giveUp(
  outcomes: Outcomes,
  { record, own }: { readonly record: string; readonly own: string },
): Promise<void> {
  const stored = await outcomes.claim(record, own);
  if (stored === null || stored === own) await outcomes.write(record, UNKNOWN); // null: the claim was lost, and is stored again
}

/** Returns `null` if this request is the first one of its submission; otherwise the outcome of the first one. */
async function claim(
  { context }: FunctionRun,
  { outcomes, record, own }: { readonly outcomes: Outcomes; readonly record: string; readonly own: string },
): Promise<FunctionOutcome | null> {
  const endMs = performance.now() + WAIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const stored = await outcomes.claim(record, own);
    if (stored === null || stored === own) return null;
    if (!stored.startsWith(RUNNING)) return outcomeOf(stored);
    if (performance.now() >= endMs || context.inbound.signal.aborted) return outcomeOf(UNKNOWN);
    await pause(pauseMs);
  }
}

async function textToKeep(
  run: FunctionRun,
  outcome: FunctionOutcome,
  { outcomes, own }: { readonly outcomes: Outcomes; readonly own: string },
): Promise<string> {
  if (outcome.kind === "failure" && isDisconnection(run.context, outcome.cause)) return UNKNOWN;
  const text = JSON.stringify(toKept(outcome));
  if (Buffer.byteLength(text) > MAX_OUTCOME_BYTES || !hasSpaceFor(text, outcomes)) return UNKNOWN;
  return countBytes(run, outcomes, outcomeBytes(text) - outcomeBytes(own)).then(
    () => text,
    () => UNKNOWN,
  );
}

/** Returns whether there is space for an outcome. Half of the space is only for claims and small outcomes. */
function hasSpaceFor(text: string, outcomes: Outcomes): boolean {
  return outcomeBytes(text) <= SMALL_OUTCOME_BYTES || !outcomes.isHalfFull();
}

type KeptOutcome =
  | { readonly kind: "redirect"; readonly target: RedirectTarget }
  | { readonly kind: "success"; readonly json: string }
  | {
      readonly kind: "failure";
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: RPCError["details"];
      readonly status?: number;
    };

function toKept(outcome: FunctionOutcome): KeptOutcome {
  if (outcome.kind !== "failure") return outcome;
  const { error } = outcome;
  const { code, message, details } = error;
  return {
    kind: "failure",
    code,
    message,
    details,
    ...(error instanceof RequestError ? { status: error.status } : {}),
  };
}

function outcomeOf(text: string): FunctionOutcome {
  if (text === UNKNOWN) return failed(unknownError());
  const kept = JSON.parse(text) as KeptOutcome; // written by `toKept`
  if (kept.kind !== "failure") return kept;
  const { code, message, details, status } = kept;
  return failed(
    status === undefined ? new RPCError(code, message, details) : new RequestError(code, message, { status, details }),
  );
}

function failed(error: RPCError): FunctionOutcome {
  return { kind: "failure", error, cause: error };
}

/** @throws RequestError `rate_limited` if too much is kept for the client, or for its address while half of the space is used */
async function countBytes({ context }: FunctionRun, outcomes: Outcomes, cost: number): Promise<void> {
  const address = clientKey(context.address);
  await countUnder(CLIENT_LIMIT, countedUser(context) ?? address);
  if (outcomes.isHalfFull()) await countUnder(ADDRESS_LIMIT, address);

  async function countUnder(limit: CountLimit, key: string): Promise<void> {
    const balance = await context.get(RATE_STORE)?.use(limit, key, { mode: "check", cost, strict: false });
    if (!balance || balance.isCounted) return;
    const { sentence, details } = retryAdvice(balance.waitSeconds);
    throw new RequestError("rate_limited", `Too many submissions. ${sentence}`, { details });
  }
}

function unknownError(): RPCError {
  const message =
    "This was sent before, and whether it was done is not known. Check the current state before you send it again.";
  return new RPCError("conflict", message, { unknown: true });
}

function invalidKeyError(): RPCError {
  const message =
    'The key of a submission must have 16 to 128 letters, digits, "-" and "_". Use a random one: crypto.randomUUID().';
  return new RPCError("validation_error", message);
}
