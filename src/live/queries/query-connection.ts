import { type RequestContext, RequestError } from "../../http/index.ts";
import { QUERY_VERSION_SEPARATOR } from "../../protocol/index.ts";
import { clientKey } from "../../rate-limit/index.ts";
import { finalSession, keysFor, sessionId, sessionTag, type VerifiedSession } from "../../session/index.ts";
import type { QueryCall } from "./definition.ts";
import type { QueryReceiver } from "./query-receiver.ts";
import type { QueryConnections, QueryRuns } from "./query-runs.ts";
import { queryId, type VerifiedQuery, verifyQuery } from "./query-token.ts";
import { parseVersion } from "./query-version.ts";
import { endedFrame, errorFrame, type QueryFrameText, staleFrame } from "./series-result.ts";

/** A token of a live request, verified, and the version of the value that its page has. */
interface QueryRequest {
  readonly token: string;
  readonly id: string;
  readonly query: VerifiedQuery;
  readonly version: string | undefined;
}

/** The client of a connection. */
interface QueryClient {
  /** Its user, or the address of a signed-out client. */
  readonly key: string;
  readonly session: VerifiedSession | null;
  /** Identifies the sign-in; `null` for a signed-out client. */
  readonly tag: string | null;
  /** Whether the sign-in is still valid. */
  isValid(): boolean;
}

/** The queries of a live request. */
export interface QueryInput {
  readonly runs: QueryRuns;
  readonly requests: readonly QueryRequest[];
  readonly client: QueryClient;
}

/**
 * Verifies the tokens of queries of a live request.
 *
 * @returns `null` without any
 * @throws RequestError 403 for a token that this application has not issued
 * @see docs/protocol.md 10.13
 */
export function readQueries(texts: readonly string[], context: RequestContext, runs: QueryRuns): QueryInput | null {
  if (texts.length === 0) return null;
  const keys = keysFor(context.config, "query");
  const presenter = { sid: sessionId(context), now: Date.now() / 1000 };
  const requests = texts.map((text) => {
    const [token = "", version] = text.split(QUERY_VERSION_SEPARATOR, 2);
    const query = verifyQuery(token, presenter, keys);
    if (query) return { token, id: queryId(query), query, version };
    const message = "A query was not issued by this application. Load the page again.";
    throw new RequestError("forbidden", message, { status: 403 });
  });
  const { session, isValid } = finalSession(context);
  const key = session ? `u:${session.user.sub}` : `a:${clientKey(context.address)}`;
  const tag = session ? sessionTag(session.sid) : null;
  return { runs, requests, client: { key, session, tag, isValid } };
}

/** A query that a connection receives: that of one or more tokens. */
interface ServedQuery {
  readonly id: string;
  readonly receiver: QueryReceiver;
  /** The tokens, with the seconds since the Unix epoch until which they are valid. */
  tokens: readonly { readonly token: string; readonly expiresAt: number }[];
  isChecked: boolean;
  end(): void;
}

/** The queries of one event stream or poll, and what its client has yet to receive. */
export class QueryConnection implements QueryConnections {
  readonly #input: QueryInput;
  readonly #onNews: () => void;
  readonly #served = new Map<QueryReceiver, ServedQuery>();
  /** Frames that are of this client only. */
  readonly #ownFrames: QueryFrameText[] = [];
  /** The queries of which there may be a frame. */
  readonly #news = new Set<QueryReceiver>();

  /** @param onNews called when {@link take} may return a frame */
  constructor(input: QueryInput, onNews: () => void) {
    this.#input = input;
    this.#onNews = onNews;
    const byId = new Map<string, QueryRequest[]>();
    for (const request of input.requests) {
      if (request.query.expired) this.#ownFrames.push(endedFrame(request.id, request.token));
      else byId.set(request.id, [...(byId.get(request.id) ?? []), request]);
    }
    for (const requests of byId.values()) this.#serve(requests);
    input.runs.addConnection(this);
  }

  /** Whether there is no frame, as far as is known. */
  get isEmpty(): boolean {
    if (this.#ownFrames.length > 0) return false;
    return ![...this.#news].some((receiver) => receiver.hasNews && this.#mayReceive(receiver));
  }

  /** Whether a query has yet to run for the client: its value is outdated. */
  get isWaiting(): boolean {
    return [...this.#served.keys()].some((receiver) => receiver.isWaiting);
  }

  /** Returns the next frame; `null` if there is none. It counts as sent. */
  take(): QueryFrameText | null {
    const own = this.#ownFrames.shift();
    if (own) return own;
    for (const receiver of this.#news) {
      const frame = this.#mayReceive(receiver) ? receiver.take() : null;
      if (frame) return frame;
      this.#news.delete(receiver);
    }
    return null;
  }

  /**
   * Checks whether the values of the client are outdated, except those of which that is known.
   *
   * @param options as for {@link QueryReceiver.check}
   * @throws Error if the bus does not respond
   */
  async check(options: { readonly askBus: boolean }): Promise<void> {
    const unchecked = [...this.#served.values()].filter(({ isChecked }) => !isChecked);
    await Promise.all(
      unchecked.map(async (served) => {
        served.isChecked = true;
        await served.receiver.check(options).catch((error: unknown) => {
          served.isChecked = false;
          throw error;
        });
      }),
    );
  }

  tick(): void {
    const now = Date.now() / 1000;
    for (const served of this.#served.values()) {
      for (const { token, expiresAt } of served.tokens) if (expiresAt <= now) this.#endToken(served, token);
    }
    if (!this.isEmpty) this.#onNews();
  }

  signedOut(tag: string): void {
    if (tag !== this.#input.client.tag) return;
    for (const served of this.#served.values()) {
      for (const { token } of served.tokens) this.#endToken(served, token);
    }
    this.#onNews();
  }

  close(): void {
    this.#input.runs.removeConnection(this);
    for (const { end } of this.#served.values()) end();
    this.#served.clear();
    this.#news.clear();
  }

  /** Serves the query of some tokens, which are valid. */
  #serve(requests: readonly QueryRequest[]): void {
    const [first] = requests;
    if (!first) return;
    const { runs, client } = this.#input;
    const { id, query } = first;
    const call = this.#callOf(id, query);
    const refusal = this.#refusalOf(id, call);
    const releasePlace = refusal ? null : runs.places.take(client.key, "", id);
    if (!call || !releasePlace) {
      const tooMany = "Too many live queries are open. Close some of the pages.";
      this.#ownFrames.push(refusal ?? errorFrame(id, "rate_limited", tooMany));
      return;
    }
    // Pages of one client may have different values: then they get the whole one.
    const hasOneVersion = requests.every(({ version }) => version === first.version);
    const version = hasOneVersion ? parseVersion(first.version, query.channels.length) : null;
    const tokens = requests.map(({ token, query: { expiresAt } }) => ({ token, expiresAt }));
    const { receiver, end } = runs.receive(call, { version, session: client.session }, (of) => this.#add(of));
    const endAll = () => {
      end();
      releasePlace();
    };
    this.#served.set(receiver, { id, receiver, tokens, isChecked: false, end: endAll });
    if (receiver.hasNews) this.#news.add(receiver);
  }

  /** Returns the frame with which a query is refused; `null` if the client may receive it. */
  #refusalOf(id: string, call: QueryCall | null): QueryFrameText | null {
    const { runs, client } = this.#input;
    if (!call) return staleFrame(id, runs.host.build);
    const isAllowed = !call.definition.authRequired || client.session !== null;
    return isAllowed ? null : errorFrame(id, "unauthenticated", "Please sign in.");
  }

  /** Returns the call of a token; `null` if this process lacks the function or its signature. */
  #callOf(id: string, { name, hash, channels, argsText }: VerifiedQuery): QueryCall | null {
    const definition = this.#input.runs.host.queries.get(name);
    if (definition?.hash !== hash) return null;
    try {
      return { definition, args: definition.parseArguments(argsText), channels, id };
    } catch {
      return null; // in development, signatures have no hash
    }
  }

  #add(receiver: QueryReceiver): void {
    if (!this.#served.has(receiver)) return; // while it is created
    this.#news.add(receiver);
    this.#onNews();
  }

  /** Whether a value may be sent now: neither the sign-in nor all tokens have ended. The query itself decides the rest. */
  #mayReceive(receiver: QueryReceiver): boolean {
    const now = Date.now() / 1000;
    return (
      this.#input.client.isValid() &&
      this.#served.get(receiver)?.tokens.some(({ expiresAt }) => expiresAt > now) === true
    );
  }

  #endToken(served: ServedQuery, token: string): void {
    this.#ownFrames.push(endedFrame(served.id, token));
    served.tokens = served.tokens.filter((other) => other.token !== token);
    if (served.tokens.length > 0) return;
    this.#served.delete(served.receiver);
    this.#news.delete(served.receiver);
    served.end();
  }
}
