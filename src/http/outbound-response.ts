import type { HandlerResponse } from "./handler-response.ts";
import { isPushedBody } from "./pushed-body.ts";

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
