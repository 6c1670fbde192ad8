import type { IncomingMessage, ServerResponse } from "node:http";
import { sendNodeResponse } from "srvx/node";
import {
  type Inbound,
  isPlainTarget,
  isPushed,
  type Outgoing,
  type Pushed,
  requestId,
  toResponse,
  traceParent,
} from "../http/index.ts";
import { isPromise } from "../http/maybe-async.ts";
import type { RequestInfo } from "../server/index.ts";
import { holdToLength, isFileAnswer } from "./file.ts";
import { comesAgain, NodeInbound } from "./inbound.ts";
import { closes, lingering } from "./linger.ts";
import { asFetch, targetOf, withCookiesApart } from "./mounted.ts";
import { push } from "./push.ts";
import { inTurn } from "./turn.ts";
import { cutUntaken, endUnread } from "./unread.ts";

/** What Node's `http`, Express and Connect call for each request. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** What answers requests by the Fetch standard. */
export interface Fetchable {
  readonly fetch: (request: Request, info: RequestInfo) => Response | Promise<Response>;
}

/** An answer, in either form. */
type Answer = Outgoing | Response;

/** What answers them in a form that is written without a `Response` in between: an `App`. */
interface Answering {
  answer(inbound: Inbound): Answer | Promise<Answer>;
  mounted?(): void;
}

/**
 * Gives an application as a handler for Node's own servers.
 *
 * Every decision about a request is made behind `answer`, the same on all platforms; here requests
 * are only read, and answers written.
 *
 * @example createServer(node(app)).listen(3000)
 */
export function node(app: Answering | Fetchable): NodeHandler {
  if ("mounted" in app) app.mounted?.();
  const answer = (request: IncomingMessage, response: ServerResponse) =>
    "answer" in app ? app.answer(new NodeInbound(request, response)) : app.fetch(asFetch(request, response), {});
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    try {
      const answered = answer(request, response);
      if (isPromise(answered)) void sendLate(answered, response);
      else send(answered, response)?.catch((error) => fail(error, response));
    } catch (error) {
      fail(error, response);
    }
  };
  return (request, response) => {
    if (!isUsableTarget(request)) return refuseTarget(request, response);
    inTurn(request, response, handle);
  };
}

async function sendLate(answered: PromiseLike<Answer>, response: ServerResponse): Promise<void> {
  try {
    await send(await answered, response);
  } catch (error) {
    fail(error, response);
  }
}

/** There is no context left to log it with. */
function tell(error: unknown): void {
  console.error("An answer could not be sent.", error);
}

/** What cannot be written at all, a header with a line break in it say. */
function fail(error: unknown, response: ServerResponse): void {
  tell(error);
  if (!response.headersSent) response.writeHead(500, { connection: "close" });
  response.end();
}

function send(answer: Answer, response: ServerResponse): void | Promise<void> {
  const { req: request } = response;
  const outgoing = withCookiesApart(answer, response);
  if (isWhole(outgoing) && (request.complete || !closes(outgoing))) return write(outgoing, response);
  if (pushes(outgoing)) {
    response.writeHead(outgoing.status, [...outgoing.headers]);
    return push(outgoing.body, response);
  }
  endUnread(response);
  return sendStreamed(toResponse(outgoing), response);
}

async function sendStreamed(answer: Response, response: ServerResponse): Promise<void> {
  const { req: request } = response;
  const sent = request.complete ? answer : await lingering(answer, request);
  // What went beyond the length that a route gave would be read as the next answer. Of a file, what its pipe would
  // throw nobody catches.
  if (isFileAnswer(sent)) holdToLength(sent, response, tell);
  else response.strictContentLength = true;
  await sendNodeResponse(response, sent);
  const { errored } = response;
  if (errored && "code" in errored && errored.code === MISMATCH) tell(errored);
}

/** How Node calls a body that is not as long as its headers say. */
const MISMATCH = "ERR_HTTP_CONTENT_LENGTH_MISMATCH";

/** An answer that is there from its first byte to its last. */
interface Whole extends Outgoing {
  readonly body: string | null;
}

function isWhole(outgoing: Answer): outgoing is Whole {
  // Asked first: to look at the body of a file's answer is to begin to read the file.
  return !(outgoing instanceof Response) && (typeof outgoing.body === "string" || outgoing.body === null);
}

function pushes(outgoing: Outgoing | Response): outgoing is Outgoing & { readonly body: Pushed } {
  return !(outgoing instanceof Response) && isPushed(outgoing.body);
}

function write({ status, headers, body }: Whole, response: ServerResponse): void {
  // An answer to HEAD has no body to tell the length of, and says nothing of it.
  const isHead = response.req.method === "HEAD";
  const length = body === null ? 0 : Buffer.byteLength(body);
  response.writeHead(status, isHead ? [...headers] : headers.concat("content-length", String(length)));
  response.end(body ?? undefined);
  if (response.writableLength > 0) cutUntaken(response); // most have left by now
}

/**
 * Answers whether a request's target and host make an address. HTTP lets through what no address
 * can hold, and the first reader of it would throw.
 */
function isUsableTarget(request: IncomingMessage): boolean {
  const { host = "localhost" } = request.headers; // HTTP/1.0 needs none
  const target = targetOf(request);
  if (!target.startsWith("/")) return false; // a proxy's or `OPTIONS *`: neither is ours to answer
  if (!isPlainTarget(target)) return false;
  // Two hosts are two readings of one request: ours, and that of a proxy in front (RFC 9112, section 3.2).
  return isUsableHost(host) && !comesAgain("host", request.rawHeaders);
}

let lastUsableHost = "localhost";

/** The last one found usable is remembered: a server is mostly asked under one name. */
function isUsableHost(host: string): boolean {
  if (host === lastUsableHost) return true;
  if (!/^[A-Za-z0-9.:[\]_-]{1,260}$/.test(host) || !URL.canParse(`http://${host}`)) return false;
  lastUsableHost = host;
  return true;
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
