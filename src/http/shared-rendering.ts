import { FetchInboundRequest } from "./inbound-request.ts";
import { RequestContext, type RequestContextInit } from "./request-context.ts";

/** What a page of all clients is rendered from. */
export interface SharedRenderingInit extends Omit<RequestContextInit, "inbound" | "address"> {
  /** The origin, the path and the query of the page, without what it may not depend on. */
  readonly url: string;
  /** The query parameters on which the page may depend. */
  readonly query: readonly string[];
  /** What the page is, for the message: `The page /news (src/news.server.tsx:3) is cached`. */
  readonly subject: string;
  /** What to do about the use of what belongs to one client, for the message. */
  readonly fix: string;
  /** What to do about another query parameter. */
  readonly queryFix: string;
}

/**
 * The rendering of a page that is sent to many clients. It has a request of its own, without headers, cookies and an address, so
 * that nothing of one client can get into it, and whose signal never aborts: a client that disconnects does not end it. What
 * would read something of one client throws, and is recorded: the application may catch the error.
 */
export class SharedRendering {
  readonly context: RequestContext;
  /** The error of the first use of what belongs to one client; `undefined` if there was none. */
  refused: Error | undefined;
  readonly #init: SharedRenderingInit;

  constructor(init: SharedRenderingInit) {
    this.#init = init;
    const context = new RequestContext({
      ...init,
      inbound: new FetchInboundRequest(new Request(init.url)),
      address: "",
    });
    context.shared = {
      hasForm: false,
      refuse: (use) => this.#refuse(`uses ${use}, which belongs to one request. ${init.fix}`),
      query: readNamedOnly(context.query, (name) => {
        if (init.query.includes(name)) return;
        throw this.#refuse(`reads request.query.${name}, on which it may not depend. ${init.queryFix}`);
      }),
    };
    this.context = context;
  }

  #refuse(reason: string): Error {
    const error = new Error(`${this.#init.subject} for all clients, and it ${reason}`);
    this.refused ??= error;
    return error;
  }
}

/** Returns a record whose members are checked before they are read. Members that are not texts belong to no client. */
function readNamedOnly<T extends object>(record: T, check: (name: string) => void): T {
  const checked = (name: string | symbol) => {
    if (typeof name === "string" && !(name in Object.prototype)) check(name);
  };
  return new Proxy(record, {
    get(target, name) {
      checked(name);
      return Reflect.get(target, name);
    },
    has(target, name) {
      checked(name);
      return Reflect.has(target, name);
    },
  });
}
