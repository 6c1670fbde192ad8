import type { IncomingMessage, ServerResponse } from "node:http";
import { MAX_BODY_BYTES_PER_CLIENT } from "../bodies/index.ts";
import { BodyLimit, type InboundRequest, isPromise, type OutboundResponse } from "../http/index.ts";
import { type AppInternals, internalsOf, type RequestInfo } from "../server/index.ts";
import { NodeInboundRequest } from "./node-inbound-request.ts";
import { whenPreviousSent } from "./pipelining.ts";
import { answerRejectedRequestsOnce } from "./rejected-requests.ts";
import {
  adoptTargetHost,
  hasUnknownTransferCoding,
  isUsableTarget,
  mayLackHeaders,
  rawHeader,
  rejectHeaders,
  rejectTarget,
  rejectTransferCoding,
} from "./request-head.ts";
import { abortResponse } from "./response-end.ts";
import { writeResponse } from "./write-response.ts";

/** A request handler of Node's `http`, Express and Connect. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** An object with a Fetch handler, such as an `App`. */
export interface Fetchable {
  readonly fetch: (request: Request, info: RequestInfo) => Response | Promise<Response>;
}

type AppResponse = OutboundResponse | Response;

/** Handles a request of Node's server without a Fetch `Request` and `Response` in between. */
type Handle = (request: InboundRequest) => AppResponse | Promise<AppResponse>;

/**
 * Returns a request handler for Node's servers, Express and Connect that serves an application. It never throws.
 *
 * The adapter only reads requests and writes responses. It rejects a request itself with 400 if its URL or host is
 * ambiguous, with 431 if it has 1,000 headers or more, with 501 for a transfer coding other than `chunked`, and destroys a connection with more than 10 waiting pipelined requests.
 *
 * @param app an `App`, or any object with a Fetch handler
 *
 * @example createServer(node(app)).listen(3000)
 */
export function node(app: Fetchable): NodeHandler {
  const internals = internalsOf(app);
  internals?.onMount();
  const handle: Handle = internals?.handle ?? fetchHandler(app);
  const clientBytes = internals?.clientBytes ?? clientBytesByConnection();
  const respond = (request: IncomingMessage, response: ServerResponse) => {
    answerRejectedRequestsOnce(request);
    if (mayLackHeaders(request)) return rejectHeaders(request, response);
    if (hasUnknownTransferCoding(request)) return rejectTransferCoding(request, response);
    if (!isUsableTarget(request)) return rejectTarget(request, response);
    adoptTargetHost(request);
    let result: AppResponse | Promise<AppResponse>;
    try {
      result = handle(new NodeInboundRequest(request, response));
    } catch (error) {
      return reportUnsent({ error, internals }, response);
    }
    if (isPromise(result)) void writeWhenReady(result, response, internals);
    else write(result, response, internals);
  };
  const pipelining = {
    handle: respond,
    clientOf: ({ socket, rawHeaders }: IncomingMessage) =>
      clientBytes({ address: socket.remoteAddress ?? "", header: (name) => rawHeader(name, rawHeaders) }),
  };
  return (request, response) => whenPreviousSent(request, response, pipelining);
}

/** Counts memory by the address of the connection, for a host that is not an `App`. */
function clientBytesByConnection(): AppInternals["clientBytes"] {
  const limit = new BodyLimit(MAX_BODY_BYTES_PER_CLIENT, (address) => address);
  return ({ address }) => limit.clientAt(address);
}

async function writeWhenReady(
  pending: PromiseLike<AppResponse>,
  response: ServerResponse,
  internals: AppInternals | undefined,
): Promise<void> {
  let result: AppResponse;
  try {
    result = await pending;
  } catch (error) {
    return reportUnsent({ error, internals }, response);
  }
  write(result, response, internals);
}

/** Writes a response. It never throws: a response that cannot be sent is logged. */
function write(result: AppResponse, response: ServerResponse, internals: AppInternals | undefined): void {
  const onError = (error: unknown) => reportUnsent({ error, result, internals }, response);
  try {
    writeResponse(result, response)?.catch(onError);
  } catch (error) {
    onError(error);
  }
}

/** Matches the methods that no Fetch `Request` can have. @see https://fetch.spec.whatwg.org/#forbidden-method */
const FORBIDDEN_METHOD = /^(CONNECT|TRACE|TRACK)$/i;

function fetchHandler(app: Fetchable): Handle {
  return (inbound) => {
    if (FORBIDDEN_METHOD.test(inbound.method)) return new Response("This method is not supported.\n", { status: 405 });
    const { request, address } = inbound;
    // Code that wraps `app.fetch` and drops `info` would lose the address, which rate limits count by.
    Object.defineProperty(request, "ip", { value: address });
    return app.fetch(request, { address });
  };
}

/** The maximum length of the reason where there is no log, in UTF-16 code units. */
const MAX_REASON_LENGTH = 200;

/** What is known about a response that could not be sent. */
interface UnsentResponse {
  readonly error: unknown;
  /** The response of the application, if there was one. Its request id is logged. */
  readonly result?: OutboundResponse | Response | undefined;
  /** The application. Other hosts have no log: one short line is written to standard error. */
  readonly internals: Pick<AppInternals, "logUnsent"> | undefined;
}

/**
 * Logs why a response could not be sent, and ends it so that its client does not take it for complete.
 *
 * A client can cause this with each request, so it is written to the log, whose buffer is limited.
 */
function reportUnsent({ error, result, internals }: UnsentResponse, response: ServerResponse): void {
  if (internals) internals.logUnsent(new NodeInboundRequest(response.req, response), result, error);
  else console.error(`A response could not be sent: ${shortReason(error)}`);
  try {
    if (response.headersSent) abortResponse(response);
    else writeServerError(response);
  } catch {
    abortResponse(response); // a header that the host has set, such as `Trailer`, prevents this response too
  }
}

function shortReason(error: unknown): string {
  const reason = error instanceof Error ? error.message : `a value of type ${typeof error} was thrown`;
  return reason.slice(0, MAX_REASON_LENGTH).replace(/\s+/g, " ");
}

function writeServerError(response: ServerResponse): void {
  if (response.req.httpVersionMajor === 1) {
    // Without the reason phrase, Node would use that of the response that failed: `500 OK`.
    response.writeHead(500, "Internal Server Error", { connection: "close" }).end();
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name); // HTTP/2 keeps those that failed
  response.writeHead(500).end();
}
