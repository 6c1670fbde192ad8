import { parseUrl } from "../protocol/index.ts";
import { isUnambiguousTarget, isValidHost, originOf } from "./request-url.ts";

/** What the address of a client is read from. */
export interface RequestSender {
  /** The address of the other end of the connection; empty if the host does not provide it. */
  readonly address: string;
  /**
   * Returns a header as `Headers.get` does.
   *
   * @param name in lower case
   */
  header(name: string): string | null;
}

/**
 * A request as its host provides it. The adapters implement it with lazy accessors: each value is computed on first
 * use. On Node, creating the Fetch `Request` costs more than all other values together, and most calls never need it.
 */
export interface InboundRequest extends RequestSender {
  readonly method: string;
  /** The path, as `URL.pathname` has it. */
  readonly pathname: string;
  readonly url: URL;
  /** The origin of the connection: its scheme and the `Host` header. */
  readonly origin: string;
  /** The same request as a Fetch `Request`. */
  readonly request: Request;
  /** The origin in the URL of {@link request}; `undefined` for that of the connection. Set it before `request` is first read. */
  publicOrigin: string | undefined;
  /** All headers. */
  readonly headers: Headers;
  /** Aborts when the client disconnects before it has received the whole response. */
  readonly signal: AbortSignal;
  /**
   * Returns the body if all of its declared length has been received, as it usually is for small bodies; otherwise
   * `null`. The body can be read once, either with this method or from `request`.
   */
  bufferedBody(): string | null;
  /** Whether the body has been read, in whole or in part. */
  readonly bodyUsed: boolean;
  /**
   * Whether the request may have an unread body without a valid `Content-Length`. Nobody has checked its size.
   */
  readonly hasUndeclaredBody: boolean;
  /**
   * Whether the host ends a body at its `Content-Length`. A `Request` that a program has created may have a longer one, and so may a
   * body that the host has parsed and decoded.
   */
  readonly enforcesLength: boolean;
  /** The `Content-Encoding` of the body as it is read; `null` without one, and if the host has decoded it. */
  readonly contentEncoding: string | null;
  /**
   * Whether the request has a body that the host does not pass on: a body of GET on hosts with a Fetch `Request`.
   */
  readonly hasHiddenBody: boolean;
  /**
   * Declares that the reader of the body has time limits of its own, which replace that of the host where it can be
   * replaced: an upload takes minutes.
   */
  ownTimeLimit(): void;
  /**
   * Reads the whole body as text, without a Fetch `Request` where the host needs none.
   *
   * @param count receives the size of each part of the body. What it throws is thrown.
   * @throws Error if the connection ends before the body has arrived, or if the body has been read already
   */
  readText(count: ByteCounter): Promise<string>;
}

/** A request of a host that provides a Fetch `Request`. */
export class FetchInboundRequest implements InboundRequest {
  readonly url: URL;
  readonly address: string;
  publicOrigin: string | undefined;
  #request: Request;

  /**
   * @param address the address of the other end of the connection, if the host provides it separately
   * @param url the URL of the request, as {@link readUrl} returns it
   */
  constructor(request: Request, address?: string, url = new URL(request.url)) {
    // srvx and hosts that follow it add the client's address to the request as `ip`. `Request` does not declare it.
    const { ip } = request as Request & { readonly ip?: unknown };
    this.#request = request;
    this.url = url;
    this.address = address ?? (typeof ip === "string" ? ip : "");
  }

  get request(): Request {
    const { publicOrigin, url } = this;
    if (publicOrigin !== undefined && publicOrigin !== this.origin) {
      const { signal } = this.#request;
      this.#request = new Request(`${publicOrigin}${url.pathname}${url.search}`, this.#request);
      followers.set(signal, this.#request);
      this.publicOrigin = undefined;
    }
    return this.#request;
  }

  get method(): string {
    return this.#request.method;
  }

  get pathname(): string {
    return this.url.pathname;
  }

  get origin(): string {
    return originOf(this.url);
  }

  get headers(): Headers {
    return this.#request.headers;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  header(name: string): string | null {
    return this.#request.headers.get(name);
  }

  bufferedBody(): null {
    return null;
  }

  get bodyUsed(): boolean {
    return this.#request.bodyUsed;
  }

  get hasUndeclaredBody(): boolean {
    const { body, headers } = this.#request;
    return (body !== null || this.hasHiddenBody) && !hasDeclaredLength(headers);
  }

  get enforcesLength(): boolean {
    return false; // a runtime may do so, but the request may have been created by a program
  }

  get contentEncoding(): string | null {
    return this.header("content-encoding");
  }

  get hasHiddenBody(): boolean {
    const { body, headers } = this.#request;
    return body === null && headers.has("transfer-encoding");
  }

  ownTimeLimit(): void {} // the time limit of the host cannot be changed here

  readText(count: ByteCounter): Promise<string> {
    return readRequestText(this.request, count);
  }
}

/** Requests whose signal follows that of another one, weakly, so they live as long as that signal. */
const followers = new WeakMap<AbortSignal, Request>();

/**
 * Returns the URL of a request; `null` if it or the `Host` header cannot be read, or can be read in two ways.
 *
 * Not every runtime has checked them. Deno joins `Host` and target without a check, so that a host with a path chooses the
 * route, and does not normalize the result. Bun leaves out a host that it cannot read.
 */
export function readUrl({ url: text, headers }: Request): URL | null {
  const host = headers.get("host");
  if (host !== null && !isValidHost(host)) return null;
  // A request of HTTP/1.0 may have no host.
  const absolute = host === null && text.startsWith("/") ? `http://localhost${text}` : text;
  const target = /^https?:\/\/[^/]+(\/.*)$/s.exec(absolute)?.[1];
  // Only a request that was created in this process has a fragment.
  const path = host === null ? target?.split("#")[0] : target;
  return path !== undefined && isUnambiguousTarget(path) ? parseUrl(absolute) : null;
}

/**
 * Returns whether a request has a valid `Content-Length`. The body may be longer: only a host whose parser has read it ends it
 * there, see `InboundRequest.enforcesLength`.
 *
 * Not every host's parser refuses a malformed length, so only digits are accepted.
 */
export function hasDeclaredLength(headers: Headers): boolean {
  return /^\d+$/.test(headers.get("content-length") ?? "");
}

/** Called with the size of each part of a body. It throws to stop reading. */
export type ByteCounter = (bytes: number) => void;

/**
 * Reads the body of a Fetch `Request` as text.
 *
 * If `count` throws, the body is left as it is. Cancelling it makes Bun reset the connection before the response is sent,
 * and Deno discard the rest without a limit.
 */
export async function readRequestText(request: Request, count: ByteCounter): Promise<string> {
  if (!request.body) return "";
  if (request.bodyUsed) return request.text(); // rejects
  const decoder = new TextDecoder();
  const reader = request.body.getReader();
  let text = "";
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      count(next.value.byteLength);
      text += decoder.decode(next.value, { stream: true });
    }
  } finally {
    reader.releaseLock();
  }
  return text + decoder.decode();
}

const kept = new Set<object>();

/**
 * Keeps a request in memory until the returned function is called.
 *
 * Node's `Request` follows the signal that it was created with through a weak reference. If nothing refers to the request
 * but listeners of its own signal, the garbage collector removes both, and the signal never aborts.
 */
export function keepInMemory(request: object): () => void {
  kept.add(request);
  return () => void kept.delete(request);
}
