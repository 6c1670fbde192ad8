import type { IncomingMessage } from "node:http";
import type { Outgoing } from "../http/index.ts";

/** How much of a body that nobody wants is read, so that its sender comes to read the answer. */
const MAX_BYTES = 16 * 1024 * 1024;

/** How long its sender has for that. */
const MAX_MS = 5_000;

/** Answers whether the connection ends with an answer: with a body still on its way, that takes care. */
export function closes({ headers }: Outgoing): boolean {
  return headers.some((name, at) => at % 2 === 0 && name === "connection" && headers[at + 1] === "close");
}

/**
 * Gives an answer that closes the connection time to be read, when the request's body is still on its
 * way: the answer goes out whole at once, and the connection is closed when the body has arrived.
 *
 * A connection that is closed with unread bytes in it is reset, and what was sent on it is lost: the
 * caller would see a broken connection in the place of the 413.
 *
 * @see RFC 9112, section 9.6
 */
export async function lingering(response: Response, request: IncomingMessage): Promise<Response> {
  const { status, headers } = response;
  if (headers.get("connection") !== "close") return response; // the body is read to its end anyway
  const text = new Uint8Array(await response.arrayBuffer());
  headers.set("content-length", String(text.length));
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      if (text.length > 0) controller.enqueue(text);
      await drained(request);
      controller.close();
    },
  });
  return new Response(body, { status, headers });
}

/** Reads and drops what is left of a body, within bounds. */
function drained(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) end();
    };
    const end = () => {
      clearTimeout(deadline);
      request.off("data", count).off("end", end).off("close", end).off("error", end);
      resolve();
    };
    const deadline = setTimeout(end, MAX_MS);
    request.on("data", count).on("end", end).on("close", end).on("error", end);
    if (request.complete || request.destroyed) end();
    else request.resume();
  });
}
