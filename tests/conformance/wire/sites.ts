/**
 * The two ways to an application: over a socket, and through `app.fetch`.
 */
import { Agent, type IncomingMessage, request } from "node:http";
import type { Answer, Ask, Site } from "./exchange.ts";

/** What answers by the Fetch standard: an `App`. */
interface Fetching {
  fetch(request: Request, info?: { readonly address?: string }): Promise<Response>;
}

/** Asks an application in this process. */
export function fetchSite(app: Fetching, base = ""): Site {
  const own = "http://shop.example";
  return {
    origin: own,
    base,
    async send(ask) {
      const { method = "GET", path, headers = {}, body, chunked } = ask;
      const { host, ...others } = headers;
      const asked = new Request(`${host ? `http://${host}` : own}${base}${path}`, {
        method,
        headers: { ...others, ...lengthOf(ask) },
        body: body === undefined ? null : chunked ? inPieces(body) : (body as BodyInit), // a string or bytes
        duplex: "half", // Node wants it said; its types do not know it
      } as RequestInit);
      const response = await app.fetch(asked, { address: "127.0.0.1" });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        text,
        closes: response.headers.get("connection") === "close",
      };
    },
  };
}

function lengthOf({ body, chunked, length }: Ask): Record<string, string> {
  if (chunked || (body === undefined && length === undefined)) return {};
  return { "content-length": String(length ?? Buffer.byteLength(body ?? "")) };
}

function inPieces(body: string | Uint8Array): ReadableStream<Uint8Array> {
  const left = pieces(body);
  return new ReadableStream({
    pull(controller) {
      const piece = left.shift();
      if (piece) controller.enqueue(piece);
      else controller.close();
    },
  });
}

function pieces(body: string | Uint8Array): Buffer[] {
  const bytes = Buffer.from(body as string); // or bytes, which it takes as well
  return Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
    bytes.subarray(at * 65_536, (at + 1) * 65_536),
  );
}

/** A site behind a socket, whose connections are kept and have to be ended. */
export interface SocketSite extends Site {
  close(): void;
}

/**
 * Asks the application at an address, over connections that are kept as long as it keeps them.
 *
 * @param tellsClosing whether the application decides when a connection closes, and how answers are framed
 */
export function socketSite(address: string, base = "", tellsClosing = true): SocketSite {
  const agent = new Agent({ keepAlive: true });
  return {
    origin: address,
    base,
    async send(ask) {
      const answer = await sendOver(agent, address, { ...ask, path: base + ask.path });
      return tellsClosing ? answer : { ...answer, closes: null };
    },
    close: () => agent.destroy(),
  };
}

function sendOver(agent: Agent, address: string, ask: Ask): Promise<Answer> {
  const { method = "GET", path, headers = {}, body, chunked, length } = ask;
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { agent, host: hostname, port, method, path, headers: { ...headers, ...lengthOf(ask) } },
      (response) => {
        // Refused before its body was sent whole: what becomes of the rest is nobody's concern.
        outgoing.on("error", () => undefined);
        read(response).then(resolve, reject);
        if (length !== undefined && body === undefined) outgoing.end();
      },
    );
    outgoing.once("error", reject);
    // Given to end() alone, Node would tell its length.
    if (chunked) for (const piece of pieces(body ?? "")) outgoing.write(piece);
    if (body !== undefined) outgoing.end(chunked ? undefined : body);
    else if (length === undefined) outgoing.end();
    else outgoing.flushHeaders();
  });
}

async function read(response: IncomingMessage): Promise<Answer> {
  let text = "";
  for await (const part of response.setEncoding("utf8")) text += part;
  const headers = new Headers();
  const { rawHeaders } = response;
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  return { status: response.statusCode ?? 0, headers, text, closes: headers.get("connection") === "close" };
}
