import type { ErrorCode } from "../errors.ts";
import { JSON_TYPE } from "../protocol/index.ts";
import { idHeaders, requestIds } from "./request-ids.ts";
import { isCallPath } from "./request-url.ts";
import type { SecurityHeaders } from "./security-headers.ts";

/** The response of the handler of a page, a call, a file or live updates. `completeResponse` adds the common headers. */
export interface HandlerResponse {
  readonly status: number;
  /** The headers. Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The security headers, if they differ from those of the application. */
  readonly security?: SecurityHeaders;
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | PushedBody | null;
}

/** The header of a response for this client only, which no cache may store. @see docs/protocol.md 2.6 */
export const PRIVATE_NO_STORE = { "cache-control": "private, no-store" } as const;

/**
 * The header of a response to a script of a page: for this client only, and used again only if the server confirms it. Not
 * `no-store`: with a response that has it, Chromium does not keep the page for Back.
 *
 * @see docs/protocol.md 2.6
 */
export const PRIVATE_NO_CACHE = { "cache-control": "private, no-cache" } as const;

/** The headers of a JSON response without further ones. */
const JSON_HEADERS = { "content-type": JSON_TYPE, ...PRIVATE_NO_CACHE } as const;

/** The headers of an HTML response without further ones. */
const HTML_HEADERS = { "content-type": "text/html; charset=utf-8", ...PRIVATE_NO_STORE } as const;

/** The headers of an HTML response that is compressed for clients that accept it, without further ones. */
const COMPRESSIBLE_HTML_HEADERS = { ...HTML_HEADERS, vary: "Accept-Encoding" } as const;

/**
 * Returns whether the headers of a response are one of the objects that many responses share, so that what is made of them can
 * be kept.
 */
export function areSharedHeaders(headers: HandlerResponse["headers"]): headers is Readonly<Record<string, string>> {
  return headers === JSON_HEADERS || headers === HTML_HEADERS || headers === COMPRESSIBLE_HTML_HEADERS;
}

/** Returns headers of a response with a `Vary` header. */
export function varying(headers: HandlerResponse["headers"], vary: string): Readonly<Record<string, string>> {
  const isShared = headers === HTML_HEADERS && vary === COMPRESSIBLE_HTML_HEADERS.vary;
  return isShared ? COMPRESSIBLE_HTML_HEADERS : { ...headers, vary };
}

/** Returns the error body of a request that is refused before a function or a route is known. @see docs/protocol.md 5.2 */
export function errorBody(code: ErrorCode, message: string): string {
  return JSON.stringify({ error: { code, message, details: {} } });
}

/** Returns a JSON response, which no cache may use without asking the server. */
export function jsonResponse(
  status: number,
  json: string,
  headers?: Readonly<Record<string, string>>,
): HandlerResponse {
  return { status, headers: headers ? { ...JSON_HEADERS, ...headers } : JSON_HEADERS, body: json };
}

/** Returns an HTML response that no cache may store. */
export function htmlResponse(
  status: number,
  html: string,
  headers?: Readonly<Record<string, string>>,
): HandlerResponse {
  return { status, headers: headers ? { ...HTML_HEADERS, ...headers } : HTML_HEADERS, body: html };
}

/** Returns a plain text response that no cache may store, for a request that is neither a page nor a call. */
export function textResponse(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): HandlerResponse {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", ...PRIVATE_NO_STORE, ...headers },
    body: text,
  };
}

const MESSAGE = "Bad request: the URL cannot be read.";

/**
 * Returns the response to a request whose target or `Host` cannot be read: 400, with the ids of the request, and for the path of a
 * call with its error body. The connection is closed.
 *
 * @param path the path of the request as it was sent, with the query or without it
 * @param header returns a header of the request; `null` if it is missing
 * @see docs/protocol.md 2.2
 */
export function unreadableRequestResponse(
  path: string,
  header: (name: string) => string | null,
): OutboundResponse & { readonly body: string } {
  // The base is not known to every host.
  const isCall = isCallPath(path.split("?")[0] ?? "", null);
  const body = isCall ? errorBody("validation_error", MESSAGE) : `${MESSAGE}\n`;
  return {
    status: 400,
    headers: [
      ...["content-type", isCall ? JSON_TYPE : "text/plain; charset=utf-8"],
      ...["content-length", String(body.length)],
      ...["x-content-type-options", "nosniff"],
      ...["connection", "close"],
      ...idHeaders(requestIds(header)).flat(),
    ],
    body,
  };
}

/** A complete response: what an adapter writes to the client. */
export interface OutboundResponse {
  readonly status: number;
  /**
   * Names, in lower case, and values, alternating as in Node's `rawHeaders`. A name may occur more than once. The list
   * belongs to this response, so its adapter may append to it.
   */
  readonly headers: string[];
  /** The list that the headers begin with, if it is the same object for many responses: an adapter may prepare it once. */
  readonly sharedHeaders?: readonly string[] | null;
  readonly body: HandlerResponse["body"];
}

/** Returns a complete response as a Fetch `Response`. */
export function toFetchResponse(outbound: OutboundResponse | Response): Response {
  if (isResponse(outbound)) return outbound;
  const headers = new Headers();
  const { headers: rawHeaders, body } = outbound;
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  return new Response(isPushedBody(body) ? body.toStream() : body, { status: outbound.status, headers });
}

/** Releases the body of a response that is not sent: a file or a connection may be behind it. */
export function releaseUnsentBody({ body }: Pick<OutboundResponse | Response, "body">): void {
  if (isPushedBody(body)) body.open({ write: () => false, end() {}, destroy() {} }).onClose();
  else if (isReadableStream(body)) body.cancel().catch(() => undefined); // the response has an error already
}

/*
 * The objects of the Fetch standard are recognized by their methods, not by `instanceof`: packages replace the global classes (`@hono/node-server` replaces
 * `globalThis.Response`), and the objects of `fetch`, of undici and of other realms are then not instances of the
 * replacement.
 */

/** Returns whether a value is a Fetch `Response`, of any implementation. */
export function isResponse(value: unknown): value is Response {
  return hasMethod(value, "arrayBuffer") && "status" in value;
}

/** Returns whether a value is a `ReadableStream` of the Streams standard, of any implementation. */
export function isReadableStream(value: unknown): value is ReadableStream<Uint8Array> {
  return hasMethod(value, "getReader");
}

/** Reads no getter: those of a lazy `Response` may create the headers and the body. */
function hasMethod(value: unknown, name: string): value is object {
  if (typeof value !== "object" || value === null || !(name in value)) return false;
  return typeof Reflect.get(value, name) === "function";
}

/** The destination of a pushed body. The adapter of the host implements it. */
export interface BodySink {
  /**
   * Writes text or bytes.
   *
   * @returns `false` if the data is still buffered; the producer should wait for `onDrain` before it writes more
   */
  write(chunk: string | Uint8Array): boolean;
  /**
   * Writes bytes that the producers of many responses write, like `write`. The host encodes them once for all of them, so
   * they must not change. Absent in hosts without such an encoding.
   */
  writeShared?(bytes: Uint8Array): boolean;
  /** Ends the body normally. */
  end(): void;
  /** Aborts the body, so that the client does not take it for complete. */
  destroy(): void;
}

/** The callbacks of a pushed body's producer. */
export interface BodyProducer {
  /** Called when the buffered data has been sent. The producer may write more. */
  onDrain(): void;
  /** Called once when the body has ended, regardless of which side ended it. */
  onClose(): void;
}

// A global symbol: a built application contains its own copy of this module, and may be mounted by another copy.
const PUSHED_BODY = Symbol.for("tsweb.pushed");

/** Returns whether a body is a {@link PushedBody} of this or of another copy of this module. */
export function isPushedBody(body: unknown): body is PushedBody {
  return typeof body === "object" && body !== null && PUSHED_BODY in body;
}

/**
 * A response body whose producer writes whenever it has data, instead of waiting until it is read. The Node adapter
 * connects it to the socket directly: a web stream in between would double the cost of a message.
 */
export class PushedBody {
  readonly [PUSHED_BODY] = true;
  readonly #open: (sink: BodySink) => BodyProducer;

  /** @param open starts to write; called once, after the headers have been sent */
  constructor(open: (sink: BodySink) => BodyProducer) {
    this.#open = open;
  }

  /** Starts the body. Call it once. */
  open(sink: BodySink): BodyProducer {
    return this.#open(sink);
  }

  /** Returns the body as a web stream, for hosts other than Node. */
  toStream(): ReadableStream<Uint8Array> {
    return streamOf(this);
  }
}

/** The number of bytes that a stream buffers before `write` returns `false`. */
const HIGH_WATER_MARK_BYTES = 64 * 1024;

function streamOf(body: PushedBody): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let producer: BodyProducer | undefined;
  let isOpen = true;
  const close = (endStream: () => void) => {
    if (!isOpen) return;
    isOpen = false;
    endStream();
    producer?.onClose();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        producer = body.open({
          write(chunk) {
            if (!isOpen) return false;
            controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk.slice());
            return (controller.desiredSize ?? 0) > 0;
          },
          end: () => close(() => controller.close()),
          destroy: () => close(() => controller.error(new Error("The response body was aborted by the server."))),
        });
      },
      pull: () => producer?.onDrain(),
      cancel: () => close(() => undefined),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: HIGH_WATER_MARK_BYTES }),
  );
}
