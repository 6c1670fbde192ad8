import { RequestContext, RequestError } from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { formatLogPosition, RevocationLog, type RevocationSource } from "../revocation/index.ts";
import { ClockSkewLog } from "./clock-skew.ts";
import type { VerifiedSession } from "./payload.ts";

/** The options of {@link AppSessions}. */
export interface AppSessionsOptions {
  /** Returns where revocations are stored. */
  revocations(): RevocationSource;
  readonly log: AppLog;
}

/** A request whose response goes on: a stream, an event stream, or a poll. */
interface OpenRequest {
  /** The request, which may still sign in; or its session, if that is final. */
  readonly of: RequestContext | VerifiedSession;
  /** A session that the request has sent, but that was revoked before: the request is one of a signed-out client. */
  readonly revokedBefore: VerifiedSession | null;
  readonly onRevoked: () => void;
}

/** The sessions of one application: which of them were revoked, and which open requests end with them. */
export class AppSessions {
  readonly revocations: RevocationLog;
  readonly clockSkew: ClockSkewLog;
  readonly #log: AppLog;
  readonly #openRequests = new Set<OpenRequest>();

  constructor({ revocations, log }: AppSessionsOptions) {
    const onRevoked = () => this.#endRevoked();
    this.revocations = new RevocationLog({ source: revocations, log, onRevoked });
    this.clockSkew = new ClockSkewLog(log);
    this.#log = log;
  }

  /**
   * Returns whether a session, which is valid otherwise, was not revoked.
   *
   * @throws RequestError 503 before the revocations were read: neither answer would be right. The cookie is kept.
   */
  accepts(session: VerifiedSession, context: RequestContext): boolean {
    this.#requireLoaded(context);
    return !this.revocations.isRevoked(session);
  }

  /**
   * Returns the member `rev_pos` of a session that is issued now; `null` if nothing can be revoked.
   *
   * @throws RequestError 503 before the revocations were read: the session could be refused as one of before
   */
  currentPosition(context: RequestContext): string | null {
    this.#requireLoaded(context);
    const { position } = this.revocations;
    return position && formatLogPosition(position);
  }

  /**
   * Logs that the session of a request was refused because its signature is of no secret of this process. Not in development,
   * where the cookies of all applications on localhost are sent to each of them.
   */
  refuseSecret({ id, config }: RequestContext): void {
    if (config.production) this.#log.refused("unknown_secret", { id }, UNKNOWN_SECRET);
  }

  /** Calls `onRevoked` once when the session of an open request is revoked. Returns a function that ends this. */
  watch(openRequest: OpenRequest): () => void {
    this.#openRequests.add(openRequest);
    return () => void this.#openRequests.delete(openRequest);
  }

  #endRevoked(): void {
    for (const openRequest of [...this.#openRequests]) {
      const session = openRequest.of instanceof RequestContext ? storedSession(openRequest.of) : openRequest.of;
      if (!session || session === openRequest.revokedBefore || !this.revocations.isRevoked(session)) continue;
      this.#openRequests.delete(openRequest);
      openRequest.onRevoked();
    }
  }

  #requireLoaded(context: RequestContext): void {
    if (this.revocations.isLoaded) return;
    context.unavailable = new RequestError(
      "internal",
      "Sessions cannot be checked yet. Please try again in a moment.",
      {
        status: 503,
        headers: { "retry-after": "2" },
      },
    );
    throw context.unavailable;
  }
}

const UNKNOWN_SECRET =
  "A session was refused: its signature is of none of the secrets of this process. If other processes sign with another " +
  "WEB_AUTH_SECRET, restart this one with it, as docs/production.md describes (Changing the secret). Otherwise the " +
  "secret was replaced, or the cookie was forged.";

/** Returns the session that a request has read or issued, whether or not it is valid now. */
export function storedSession(context: RequestContext): VerifiedSession | null {
  return (context.session ?? null) as VerifiedSession | null; // only session/ sets it
}

/** Returns the sessions of the application of a request; `undefined` without an application. */
export function sessionsOf(context: RequestContext): AppSessions | undefined {
  return context.sessions instanceof AppSessions ? context.sessions : undefined;
}
