import type { IncomingMessage, ServerResponse } from "node:http";
import { type Inbound, originOf } from "../http/index.ts";
import { asFetch, type FetchRequest, targetOf } from "./mounted.ts";

/** Segments of what no address writes in another way: `URL` gives such a path as it stands. */
const PLAIN_PATH = /^(\/[A-Za-z0-9_~-]+)+$/;

/** A request of Node's server. What it is by the Fetch standard is made when it is asked for. */
export class NodeInbound implements Inbound {
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  #request: FetchRequest | undefined;

  constructor(incoming: IncomingMessage, response: ServerResponse) {
    this.#incoming = incoming;
    this.#response = response;
  }

  get request(): FetchRequest {
    this.#request ??= asFetch(this.#incoming, this.#response);
    return this.#request;
  }

  get method(): string {
    return this.#incoming.method ?? "GET";
  }

  get pathname(): string {
    const target = targetOf(this.#incoming);
    const end = target.indexOf("?");
    const path = end === -1 ? target : target.slice(0, end);
    return PLAIN_PATH.test(path) ? path : this.url.pathname;
  }

  get url(): URL {
    return this.request._url ?? new URL(this.request.url);
  }

  get origin(): string {
    const { host } = this.#incoming.headers;
    const isSecure = "encrypted" in this.#incoming.socket;
    // A server is mostly asked under one name; without one its address differs from connection to connection.
    if (host === undefined || host !== last.host || isSecure !== last.isSecure) {
      last = { host, isSecure, origin: originOf(this.url) };
    }
    return last.origin;
  }

  get address(): string {
    return this.#incoming.socket.remoteAddress ?? "";
  }

  header(name: string): string | null {
    const { headers, rawHeaders } = this.#incoming;
    const value = headers[name];
    if (value === undefined) return null;
    // Of two types Node keeps the first, where the Fetch standard has both. (Two lengths its parser refuses.)
    const isWhole = typeof value === "string" && !(name === "content-type" && comesAgain(name, rawHeaders));
    return isWhole ? value : this.request.headers.get(name);
  }

  arrived(): string | null {
    const { readableLength, headers } = this.#incoming;
    // The parser holds a body to the length it declared; it says that it is complete only a moment later.
    if (readableLength === 0 || readableLength !== Number(headers["content-length"])) return null;
    return String(this.#incoming.read());
  }
}

let last: { readonly host: string | undefined; readonly isSecure: boolean; readonly origin: string } = {
  host: undefined,
  isSecure: false,
  origin: "",
};

/**
 * Answers whether a header came more than once.
 *
 * @param name in lower case
 */
export function comesAgain(name: string, rawHeaders: readonly string[]): boolean {
  let found = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const other = rawHeaders[i];
    if (other?.length === name.length && (other === name || other.toLowerCase() === name)) found++;
  }
  return found > 1;
}
