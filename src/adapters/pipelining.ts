/**
 * Pipelined requests: those that a client sends on a connection before it has received the response to an earlier one. They
 * are handled one after another.
 *
 * Node emits all of them at once. A response that is written before its turn stays in memory: with a few bytes for each
 * request, an attacker would make the server hold page after page. Such a response also gets no `close` event when the
 * connection closes: a stream behind another stream would never end.
 *
 * Requests that wait use memory too, which is limited for each connection and counted for its client.
 *
 * @see docs/protocol.md 2.9
 */
import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { appendPart } from "../bodies/index.ts";
import { type ClientBytes, runOutsideRequests } from "../http/index.ts";
import { currentResponse, ServerRequest, stopParsing } from "./fast/index.ts";

/** How many requests may wait on a connection. Clients that pipeline at all send about ten. */
const MAX_WAITING = 10;

/** How many headers the requests that wait on a connection may have together: the parser needs about a µs for each. */
const MAX_WAITING_HEADERS = 1_000;

/**
 * A connection is not read any further once so many bytes of requests that wait have arrived, headers included. Half of 64 KiB,
 * which Node reads at once.
 */
const MAX_AHEAD_BYTES = 32 * 1024;

/**
 * How long a connection may not be read for that reason, before it is closed. Meanwhile the server does not notice that the
 * client has disconnected.
 */
const MAX_UNREAD_MS = 30_000;

/** The memory that the objects of a request use in addition to its bytes, as measured on Node 20. */
const REQUEST_COST = 4 * 1024;
const HEADER_COST = 160;

/** After a response with this status, the requests that wait are not handled: their client sends too many. */
const TOO_MANY_REQUESTS = 429;

/** The bytes around each part of a body without a declared length. */
const CHUNK_BYTES = 5;

/** How requests are handled. */
export interface PipeliningOptions {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Returns the count of the client that has sent a request. */
  readonly clientOf: (request: IncomingMessage, response: ServerResponse) => ClientBytes;
}

/**
 * Handles a request after all earlier responses on its connection were sent.
 *
 * A connection is destroyed if more than {@link MAX_WAITING} requests wait, or requests with more than
 * {@link MAX_WAITING_HEADERS} headers, or if its client exceeds its memory, and closed after a
 * response with 429. Requests that wait on a connection that closes are never handled.
 */
export function whenPreviousSent(
  request: IncomingMessage,
  response: ServerResponse,
  { handle, clientOf }: PipeliningOptions,
): void {
  const { socket } = request;
  if (!isQueued(response, socket)) {
    // On the next tick the parser has taken in a body that arrived with its headers: it can be read without waiting.
    process.nextTick(handle, request, response);
    return;
  }
  let queue = queues.get(socket);
  if (queue === undefined) {
    queue = new WaitingRequests(socket);
    queues.set(socket, queue);
  }
  const previous = queue.last ?? currentResponse(socket);
  const release = queue.add({ request, response }, clientOf(request, response));
  // In its own asynchronous context: the event is emitted in that of the previous request, whose trace it does not belong to.
  const onSocket = AsyncResource.bind(() => {
    if (previous?.statusCode === TOO_MANY_REQUESTS) return queue.close();
    release();
    process.nextTick(handle, request, response);
  });
  response.once("socket", onSocket);
}

/** Returns whether another response is using the connection. */
function isQueued(response: ServerResponse, socket: Socket): boolean {
  if (response.socket !== null) return false;
  const current = currentResponse(socket);
  return current !== null && current !== response;
}

/** A request, and the response to it. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const queues = new WeakMap<Socket, WaitingRequests>();

/** The requests that wait on one connection. */
class WaitingRequests {
  readonly #socket: Socket;
  readonly #waiting = new Set<WaitingRequest>();
  /** The response to the request that has arrived last; `undefined` while none waits. */
  last: ServerResponse | undefined;
  /** The bytes of all of them that have arrived. */
  #bytes = 0;
  #headers = 0;
  /** Closes the connection; `undefined` while it is read. */
  #deadline: NodeJS.Timeout | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.once("close", () => this.#drop());
  }

  /** Keeps a request until the returned function is called, or the connection closes. */
  add({ request, response }: Exchange, client: ClientBytes): () => void {
    this.last = response;
    const waiting: WaitingRequest = new WaitingRequest(request, client, (bytes) => this.#count(waiting, bytes));
    this.#waiting.add(waiting);
    this.#headers += waiting.headers;
    if (this.#waiting.size > MAX_WAITING || this.#headers > MAX_WAITING_HEADERS) this.#destroy();
    this.#count(waiting, waiting.headBytes, waiting.headCost);
    return () => {
      this.#waiting.delete(waiting);
      if (this.last === response) this.last = undefined;
      waiting.release();
      this.#bytes -= waiting.bytes;
      this.#headers -= waiting.headers;
      if (this.#bytes < MAX_AHEAD_BYTES) this.#continueReading();
      waiting.restore();
    };
  }

  /** Counts bytes of a request that have arrived. Returns whether more may arrive. */
  #count(waiting: WaitingRequest, bytes: number, overhead = 0): boolean {
    if (this.#socket.destroyed) return false;
    if (!waiting.take(bytes, overhead)) {
      this.#destroy();
      return false;
    }
    this.#bytes += bytes;
    if (this.#bytes >= MAX_AHEAD_BYTES) this.#stopReading();
    return this.#bytes < MAX_AHEAD_BYTES;
  }

  #stopReading(): void {
    if (this.#deadline !== undefined) return;
    this.#deadline = runOutsideRequests(() => setTimeout(() => this.#socket.destroy(), MAX_UNREAD_MS)).unref();
    // Node resumes the connection at the end of each request that it parses, so what has arrived is parsed first.
    process.nextTick(() => {
      if (this.#deadline !== undefined) this.#socket.pause();
    });
  }

  #continueReading(): void {
    if (this.#deadline === undefined) return;
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
    this.#socket.resume();
  }

  /** Closes the connection once the response before was sent. */
  close(): void {
    this.#socket.destroySoon();
    stopParsing(this.#socket);
    this.#drop();
  }

  #destroy(): void {
    this.#socket.destroy();
    stopParsing(this.#socket);
    this.#drop();
  }

  /** Forgets the requests of a connection that has closed. */
  #drop(): void {
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
    for (const waiting of this.#waiting) waiting.release();
    this.#waiting.clear();
  }
}

/** A request to which Node's parser passes its body in parts, and `null` at the end. It returns whether it may go on. */
interface PushedRequest {
  push(part: Buffer | null): boolean;
}

/** A request that waits, in about as much memory as it has bytes. */
class WaitingRequest {
  /** The number of its headers. */
  readonly headers: number;
  readonly headBytes: number;
  /** The memory that its objects use in addition. */
  readonly headCost: number;
  /** The bytes that were counted. */
  bytes = 0;
  readonly #request: IncomingMessage;
  readonly #client: ClientBytes;
  /** The headers as one text: a thousand short ones use ten times as much memory. */
  readonly #head: string;
  /** The parts of the body. */
  #parts: Buffer[] = [];
  #hasEnded = false;
  #cost = 0;

  /** @param count called with the size of each part of the body; returns whether more may arrive */
  constructor(request: IncomingMessage, client: ClientBytes, count: (bytes: number) => boolean) {
    const { rawHeaders, url = "" } = request;
    this.#request = request;
    this.#client = client;
    this.#head = rawHeaders.join("\n"); // no header contains it
    this.headers = rawHeaders.length / 2;
    this.headBytes = url.length + this.#head.length;
    const isOwn = request instanceof ServerRequest;
    this.headCost = REQUEST_COST + (isOwn ? 0 : this.headers * HEADER_COST);
    rawHeaders.length = 0;
    // Node has made an object of the headers, and makes a new one when it is read. Code of another server may have changed it.
    if (isOwn) Object.assign(request, { headers: null });
    const pushed: PushedRequest = request;
    pushed.push = (part) => {
      if (part === null) this.#hasEnded = true;
      else if (!request.socket.destroyed) appendPart(this.#parts, part);
      return part === null || count(part.length + CHUNK_BYTES);
    };
  }

  /** Counts bytes for the client. Returns `false` if it would exceed its limit. */
  take(bytes: number, overhead: number): boolean {
    if (!this.#client.take(bytes + overhead)) return false;
    this.bytes += bytes;
    this.#cost += bytes + overhead;
    return true;
  }

  /** Releases the bytes that were counted for the client. */
  release(): void {
    this.#client.release(this.#cost);
    this.#cost = 0;
    this.#parts = this.#request.socket.destroyed ? [] : this.#parts;
  }

  /** Restores the headers and the body of the request, which can now be handled. */
  restore(): void {
    if (this.#head !== "") this.#request.rawHeaders.push(...this.#head.split("\n"));
    const pushed: PushedRequest = this.#request;
    Reflect.deleteProperty(pushed, "push"); // that of the class follows
    for (const part of this.#parts) pushed.push(part);
    if (this.#hasEnded) pushed.push(null);
  }
}
