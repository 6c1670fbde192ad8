import type { IncomingMessage, ServerResponse } from "node:http";
import {
  BodyLimit,
  type InboundRequest,
  isPromise,
  MAX_BODY_BYTES_PER_CLIENT,
  type OutboundResponse,
} from "../http/index.ts";
import { type AppInternals, internalsOf, type RequestInfo } from "../server/index.ts";
import { NodeInboundRequest } from "./node-inbound-request.ts";
import { whenPreviousSent } from "./pipelining.ts";
import { rawHeader } from "./raw-headers.ts";
import { answerRejectedRequestsOnce } from "./rejected-requests.ts";
import {
  adoptTargetHost,
  hasUnknownTransferCoding,
  isUsableTarget,
  mayLackHeaders,
  rejectHeaders,
  rejectTarget,
  rejectTransferCoding,
} from "./request-target.ts";
import { reportUnsent } from "./unsent-response.ts";
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
