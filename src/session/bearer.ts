import { ContextKey, type RequestContext, RequestError, runInContext, runOutsideRequests } from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { type AppSessions, SESSION } from "./app-sessions.ts";
import { hashToken, withoutToken } from "./bearer-token.ts";
import {
  type ApplicationClaims,
  checkClaims,
  checkUserId,
  isPlainObject,
  isRoleList,
  type Json,
  type ReservedClaims,
} from "./claims.ts";
import { deepFreeze, VerifiedSession } from "./payload.ts";

/** The maximum time that `authenticate` may take, in milliseconds. */
const TIMEOUT_MS = 5_000;

/** How long an answer counts for a function that is about to run, in milliseconds. */
const FRESH_MS = 5_000;

/** How often an open stream calls `authenticate` again, in milliseconds. */
const AUTHENTICATE_AGAIN_MS = 60_000;

/** After how many failures in a row an open stream ends: about three minutes without an answer. */
const MAX_FAILURES = 3;

/** The bearer token with which a request was accepted. It survives discarded cookies. */
const BEARER = new ContextKey<BearerIdentity>();

/** Returns the identity of a request that `authenticate` has accepted; `undefined` for any other request. */
export function bearerIdentity(context: RequestContext): BearerIdentity | undefined {
  return context.isBearer ? context.get(BEARER) : undefined;
}

/** What {@link identifyBearer} uses of an application. */
interface BearerSettings {
  readonly authenticate: Authenticate;
  readonly sessions: AppSessions;
  readonly log: AppLog;
}

/**
 * Calls `authenticate` for the user of a bearer token. From then on, the request has this user, and no session cookie is read
 * or set for it, whatever the answer is.
 *
 * @returns whether the token was accepted
 * @throws RequestError 503 if `authenticate` fails, takes too long or returns an invalid user. It is never "signed out".
 * @see docs/protocol.md 7.9
 */
export async function identifyBearer(
  context: RequestContext,
  token: string,
  settings: BearerSettings,
): Promise<boolean> {
  context.isBearer = true;
  const identity = new BearerIdentity(context, token, settings);
  const session = await identity.authenticate();
  if (session === undefined) throw unavailableError();
  if (session === null) return false;
  identity.accept(session);
  context.set(BEARER, identity);
  return true;
}

/**
 * Calls `authenticate` again if its last result is older than five seconds, before a function runs: the body of the request or a
 * schema may have taken long. Returns nothing if it need not be called, and for requests without a bearer token.
 *
 * @throws RequestError (the promise) 401 if the token is refused now, 503 if `authenticate` fails
 * @see docs/protocol.md 3.2
 */
export function renewIdentity(context: RequestContext): Promise<void> | undefined {
  return bearerIdentity(context)?.renew();
}

/** Returns the error for a bearer token that `authenticate` has refused. @see RFC 6750, section 3.1 */
export function invalidTokenError(): RequestError {
  return new RequestError("unauthenticated", "The bearer token is not valid.", {
    headers: { "www-authenticate": 'Bearer error="invalid_token"' },
  });
}

function unavailableError(): RequestError {
  return new RequestError("internal", "The bearer token cannot be checked at the moment. Please try again later.", {
    status: 503,
    headers: { "retry-after": "2" },
  });
}

/** The bearer token of one request, and its user as `authenticate` has last returned it. */
class BearerIdentity {
  readonly #context: RequestContext;
  readonly #token: string;
  readonly #settings: BearerSettings;
  readonly #sid: string;
  /** When the last result was requested, by `performance.now`. */
  #requestedAtMs = Number.NEGATIVE_INFINITY;
  #session: VerifiedSession | null = null;

  constructor(context: RequestContext, token: string, settings: BearerSettings) {
    this.#context = context;
    this.#token = token;
    this.#settings = settings;
    this.#sid = `b:${hashToken(token).slice(0, 22)}`;
  }

  /** The session of the token; `null` before it was accepted. */
  get session(): VerifiedSession | null {
    return this.#session;
  }

  /**
   * Calls `authenticate` for the user of the token. Never rejects.
   *
   * @returns the session; `null` if the token is refused; `undefined` if there is no answer, which is logged
   */
  async authenticate(): Promise<VerifiedSession | null | undefined> {
    const { authenticate, sessions, log } = this.#settings;
    const requestedAtMs = performance.now();
    // Before the call: a revocation that comes later ends what the result allows.
    const position = sessions.revocations.position;
    const context = contextOfCall(this.#context);
    try {
      const answer = await withinTime(() => runInContext(context, () => authenticate(this.#token)));
      if (answer === null || answer === undefined) return null;
      const user = deepFreeze(checkBearerUser(answer));
      // The token now belongs to somebody else: what was started for the first user must not go on for the second.
      if (this.#session !== null && this.#session.user.sub !== user.sub) return null;
      this.#requestedAtMs = requestedAtMs;
      const iat = Math.floor(Date.now() / 1000);
      const exp = Number.POSITIVE_INFINITY;
      return new VerifiedSession({ user, sid: this.#sid, iat, exp, position, isBearer: true });
    } catch (error) {
      const err = withoutToken(error, this.#token);
      runInContext(context, () => log.error({ id: context.id, err }, FAILED));
      return undefined;
    }
  }

  /** Makes a session that of the request. */
  accept(session: VerifiedSession): void {
    this.#session = session;
    this.#context.set(SESSION, session);
  }

  /** The contract is that of {@link renewIdentity}. */
  renew(): Promise<void> | undefined {
    return performance.now() - this.#requestedAtMs < FRESH_MS ? undefined : this.#renew();
  }

  async #renew(): Promise<void> {
    const session = await this.authenticate();
    if (session === undefined) throw unavailableError();
    if (session === null) {
      this.#end();
      throw invalidTokenError();
    }
    this.accept(session);
  }

  /**
   * Calls `authenticate` again every 60 seconds, for a response that goes on. Calls `onEnded` once when the token is refused, or has
   * not been accepted three times in a row because `authenticate` fails.
   *
   * @returns a function that ends this
   */
  watch(onEnded: () => void): () => void {
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    let failures = 0;
    const schedule = () => {
      timer = runOutsideRequests(() => setTimeout(() => void authenticateAgain(), AUTHENTICATE_AGAIN_MS).unref());
    };
    const authenticateAgain = async () => {
      const session = await this.authenticate();
      if (isOver) return; // the session was revoked meanwhile, or the response has ended
      failures = session === undefined ? failures + 1 : 0;
      if (session === null || failures === MAX_FAILURES) {
        isOver = true;
        this.#end();
        onEnded();
        return;
      }
      if (session) this.accept(session);
      schedule();
    };
    schedule();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }

  /** Ends the session of the request: it counts as expired. */
  #end(): void {
    const { user, sid, iat, position } = this.#session ?? {};
    if (user === undefined || sid === undefined || iat === undefined) return;
    this.accept(new VerifiedSession({ user, sid, iat, exp: 0, position: position ?? null, isBearer: true }));
  }
}

/**
 * Returns a context in which `authenticate` is called: that of the request, without anything that the request has kept. In it
 * nobody is signed in, and what `once()` has stored for the request does not answer the question a second time.
 */
function contextOfCall(context: RequestContext): RequestContext {
  const forked = context.fork();
  forked.isBearer = true;
  return forked;
}

const FAILED = "authenticate of new App has failed, so that a bearer token could not be checked";

/** Rejects after {@link TIMEOUT_MS}. What the work returns or throws later is ignored: the delay has been logged. */
async function withinTime<T>(work: () => T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `authenticate of new App took longer than ${TIMEOUT_MS / 1000} s. Give the queries in it a time limit.`;
      reject(new Error(message));
    }, TIMEOUT_MS);
  });
  try {
    return await Promise.race([(async () => work())(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** The user of a bearer token: the user id, and the claims that `session.login` would receive. */
export type BearerUser = { readonly sub: string } & ApplicationClaims & Omit<ReservedClaims, "sub">;

/**
 * Returns the user of a bearer token, or `null` for a token that is not valid.
 *
 * It decides each request that carries a token, and open streams every 60 seconds. It runs in the request, in which nobody is
 * signed in yet.
 */
export type Authenticate = (token: string) => BearerUser | null | undefined | Promise<BearerUser | null | undefined>;

/** The option, for messages. */
const OPTION = "authenticate of new App";

/**
 * Returns what `session.user()` returns for what `authenticate` has returned.
 *
 * @throws TypeError that names the problem, but never a value, for what `session.login` would refuse
 */
function checkBearerUser(answer: unknown): Record<string, Json> & { readonly sub: string } {
  if (!isPlainObject(answer)) {
    throw new TypeError(
      `${OPTION}: it returned ${describe(answer)}. Return a plain object, for example { sub: key.user_id, roles: key.roles }, ` +
        "or null for a token that is not valid.",
    );
  }
  const { sub, ...claims } = answer;
  checkUserId(sub, OPTION);
  checkClaims(claims, OPTION);
  const { roles } = claims;
  if (roles !== undefined && !isRoleList(roles)) {
    throw new TypeError(`${OPTION}: claims.roles must be an array of strings. session.require reads it.`);
  }
  return JSON.parse(JSON.stringify({ sub, ...claims })); // of these types: checked above
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an instance of a class" : `a value of type ${typeof value}`;
}
