import type { IncomingMessage, ServerResponse } from "node:http";
import { FastResponse, toNodeHandler } from "srvx/node";
import type { RequestInfo } from "../app.ts";

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
  const handle = toNodeHandler((request) => app.fetch(request, INFO)) as (
    request: IncomingMessage,
    response: ServerResponse,
  ) => unknown;
  return (request, response) => {
    if (!isUsableTarget(request)) return refuseTarget(response);
    void handle(request, response);
  };
}

/**
 * Answers whether a request's target and host make an address. HTTP lets through what no address
 * can hold, and the first reader of it would throw.
 */
function isUsableTarget({ url = "", headers: { host = "localhost" } }: IncomingMessage): boolean {
  if (!/^[A-Za-z0-9.:[\]_-]+$/.test(host)) return false;
  if (!url.startsWith("/")) return false; // a proxy's or `OPTIONS *`: neither is ours to answer
  return URL.canParse(`http://${host}`);
}

function refuseTarget(response: ServerResponse): void {
  response.writeHead(400, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  response.end("Bad request: its address cannot be read.\n");
}
