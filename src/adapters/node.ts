import { IncomingMessage, type ServerResponse } from "node:http";
import type { ServerRequest } from "srvx";
import { FastResponse, toNodeHandler } from "srvx/node";
import type { RequestInfo } from "../app.ts";
import { requestId, traceParent } from "../http/index.ts";
import { lingering } from "./linger.ts";

/** What Node's `http`, Express and Connect call for each request. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Node's own answers, which need no `Response` of the Fetch standard in between. */
const INFO: RequestInfo = { Response: FastResponse };

/** What answers requests by the Fetch standard: an `App`, above all. */
export interface Fetchable {
  readonly fetch: (request: Request, info: RequestInfo) => Response | Promise<Response>;
}

/**
 * Gives an application as a handler for Node's own servers.
 *
 * @example createServer(node(app)).listen(3000)
 */
export function node(app: Fetchable): NodeHandler {
  // It takes HTTP/2's requests as well; ours are of HTTP/1.1.
  const handle = toNodeHandler(async (request) => {
    const response = await app.fetch(request, INFO);
    const { req } = (request as ServerRequest).runtime?.node ?? {}; // it is of the adapter's own making
    return req instanceof IncomingMessage && !req.complete ? lingering(response, req) : response;
  }) as (request: IncomingMessage, response: ServerResponse) => unknown;
  return (request, response) => {
    if (!isUsableTarget(request)) return refuseTarget(request, response);
    void handle(request, response);
  };
}

/**
 * Answers whether a request's target and host make an address. HTTP lets through what no address
 * can hold, and the first reader of it would throw.
 */
function isUsableTarget(request: IncomingMessage): boolean {
  const { url = "", headers } = request;
  const { host = "localhost" } = headers; // HTTP/1.0 needs none
  if (!/^[A-Za-z0-9.:[\]_-]{1,260}$/.test(host)) return false;
  if (!url.startsWith("/")) return false; // a proxy's or `OPTIONS *`: neither is ours to answer
  return URL.canParse(`http://${host}`) && !namesTwoHosts(request.rawHeaders);
}

/** Two hosts are two readings of one request: ours, and that of a proxy in front. @see RFC 9112, section 3.2 */
function namesTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1;
}

function refuseTarget({ headers }: IncomingMessage, response: ServerResponse): void {
  const only = (value: string | string[] | undefined) => (typeof value === "string" ? value : null);
  response.writeHead(400, {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId(only(headers["x-request-id"])),
    traceparent: traceParent(only(headers.traceparent)),
    connection: "close",
  });
  response.end("Bad request: its address cannot be read.\n");
}
