/** The transports to an application: through `app.fetch`, and over sockets. */
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import type { Target, WireRequest, WireResponse } from "./exchange.ts";

/** The part of an `App` that responds to requests of the Fetch standard. */
interface FetchHandler {
  fetch(request: Request, info?: { readonly address?: string }): Promise<Response>;
}

/** Returns a target that sends requests to an application in this process. */
export function fetchTarget(app: FetchHandler, base = ""): Target {
  const origin = "http://shop.example";
  return {
    origin,
    base,
    async send(wireRequest) {
      const { method = "GET", path, headers = {}, body, chunked } = wireRequest;
      const { host = "" } = headers;
      const hasBody = body !== undefined && method !== "GET"; // runtimes do not pass on a body of GET
      // A runtime passes a host that is not valid in the header only.
      const request = new Request(`${isReadable(host) ? `http://${host}` : origin}${base}${path}`, {
        method,
        headers: { ...headers, ...framingHeader(wireRequest) },
        body: !hasBody ? null : chunked ? chunkedStream(wireRequest) : (body as BodyInit), // a string or bytes
        duplex: "half", // Node requires it for a stream; its types do not declare it.
      } as RequestInit);
      const response = await app.fetch(request, { address: "127.0.0.1" });
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

function isReadable(host: string): boolean {
  return /^[\w.:-]+$/.test(host) && URL.canParse(`http://${host}`);
}

function framingHeader({ body, chunked, contentLength }: WireRequest): Record<string, string> {
  if (chunked) return { "transfer-encoding": "chunked" };
  if (body === undefined && contentLength === undefined) return {};
  return { "content-length": String(contentLength ?? Buffer.byteLength(body ?? "")) };
}

function chunkedStream(request: WireRequest): ReadableStream<Uint8Array> {
  const chunks = splitIntoChunks(request);
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
  });
}

function splitIntoChunks({ body = "", chunked }: WireRequest): Buffer[] {
  const bytes = Buffer.from(body as string); // Buffer.from takes bytes too, but has no overload for the union.
  if (chunked === "burst") return [bytes];
  return Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) =>
    bytes.subarray(index * 65_536, (index + 1) * 65_536),
  );
}

/** A target whose connections are kept alive until it is closed. */
export interface SocketTarget extends Target {
  close(): void;
}

/**
 * Returns a target that sends requests over kept-alive connections.
 *
 * @param address the address of the server, for example `http://127.0.0.1:43121`
 * @param base the base of the application
 * @param appControlsConnections whether the application, not its runtime, closes connections and frames responses
 */
export function socketTarget(address: string, base = "", appControlsConnections = true): SocketTarget {
  const agent = new Agent({ keepAlive: true });
  return {
    origin: address,
    base,
    async send(request) {
      const response = await sendThroughAgent(agent, address, { ...request, path: base + request.path });
      return appControlsConnections ? response : { ...response, closes: null };
    },
    close: () => agent.destroy(),
  };
}

function sendThroughAgent(agent: Agent, address: string, wireRequest: WireRequest): Promise<WireResponse> {
  const { method = "GET", path, headers = {}, body, chunked, contentLength } = wireRequest;
  const { hostname, port } = new URL(address);
  const allHeaders = { ...headers, ...framingHeader(wireRequest) };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ agent, host: hostname, port, method, path, headers: allHeaders }, (response) => {
      // The server may respond and close before it has read the whole body; writing the rest then fails.
      request.on("error", () => undefined);
      readResponse(response).then(resolve, reject);
      if (contentLength !== undefined && body === undefined) request.end();
    });
    request.once("error", reject);
    // If the body is only passed to end(), Node sends its Content-Length.
    if (chunked === "burst") request.cork(); // until end()
    if (chunked) for (const chunk of splitIntoChunks(wireRequest)) request.write(chunk);
    if (body !== undefined) request.end(chunked ? undefined : body);
    else if (contentLength === undefined) request.end();
    else request.flushHeaders();
  });
}

async function readResponse(response: IncomingMessage): Promise<WireResponse> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  const headers = new Headers();
  const { rawHeaders } = response;
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  return { status: response.statusCode ?? 0, headers, text, closes: headers.get("connection") === "close" };
}
