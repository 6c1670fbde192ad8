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
import { type ClientBytes, runOutsideRequests } from "../http/index.ts";
import { currentResponse } from "./response-state.ts";

/** How many requests may wait on a connection. Clients that pipeline at all send about ten. */
const MAX_WAITING = 10;

/** A connection is not read any further once so many bytes of requests that wait have arrived, headers included. */
const MAX_AHEAD_BYTES = 64 * 1024;

/**
 * How long a connection may not be read for that reason, before it is closed. Meanwhile the server does not notice that the
 * client has disconnected.
 */
const MAX_UNREAD_MS = 30_000;

/** The memory that objects of Node use in addition to the bytes, as measured on Node 20. */
const REQUEST_COST = 4 * 1024;
const HEADER_COST = 160;
const PART_COST = 256;

/** How requests are handled. */
export interface PipeliningOptions {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Returns the count of the client that has sent a request. */
  readonly clientOf: (request: IncomingMessage, response: ServerResponse) => ClientBytes;
}

/**
 * Handles a request after all earlier responses on its connection were sent.
 *
 * A connection is destroyed if more than {@link MAX_WAITING} requests wait, or if its client exceeds its memory. Requests
 * that wait on a connection that closes are never handled.
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
  const release = queue.add(request, clientOf(request, response));
  // In its own asynchronous context: the event is emitted in that of the previous request, whose trace it does not belong to.
  const onSocket = AsyncResource.bind(() => {
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

const queues = new WeakMap<Socket, WaitingRequests>();

/** The requests that wait on one connection. */
class WaitingRequests {
  readonly #socket: Socket;
  /** What releases the memory of each request. */
  readonly #releases = new Set<() => void>();
  /** The bytes of all of them that have arrived. */
  #bytes = 0;
  /** Closes the connection; `undefined` while it is read. */
  #deadline: NodeJS.Timeout | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.once("close", () => {
      clearTimeout(this.#deadline);
      this.#deadline = undefined;
      for (const release of this.#releases) release();
    });
  }

  /** Counts a request until the returned function is called, or the connection closes. */
  add(request: IncomingMessage, client: ClientBytes): () => void {
    let bytes = 0;
    let cost = 0;
    const count = (added: number, overhead: number): boolean => {
      if (this.#socket.destroyed) return false;
      if (!client.take(added + overhead)) {
        this.#destroy();
        return false;
      }
      bytes += added;
      cost += added + overhead;
      this.#bytes += added;
      if (this.#bytes >= MAX_AHEAD_BYTES) this.#stopReading();
      return true;
    };
    const stopCounting = countBody(request, (part) => count(part, PART_COST) && this.#bytes < MAX_AHEAD_BYTES);
    const release = () => {
      stopCounting();
      this.#releases.delete(release);
      client.release(cost);
      this.#bytes -= bytes;
      if (this.#bytes < MAX_AHEAD_BYTES) this.#continueReading();
    };
    this.#releases.add(release);
    if (this.#releases.size > MAX_WAITING) this.#destroy();
    const { rawHeaders, url = "" } = request;
    count(
      rawHeaders.reduce((total, text) => total + text.length, url.length),
      REQUEST_COST + (rawHeaders.length / 2) * HEADER_COST,
    );
    return release;
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

  #destroy(): void {
    this.#socket.destroy();
    stopParsing(this.#socket);
  }
}

/** Node's parser of a connection. */
interface Parser {
  onIncoming?: unknown;
}

/** What a parser returns for a request after which no HTTP follows (`CONNECT`): it then parses no more. */
const NO_MORE_HTTP = 2;

/**
 * Makes Node ignore the bytes that have arrived on a destroyed connection. It would make objects of all requests in them, some
 * thousands in 64 KiB, and keep them until all connections that have received something were read.
 */
function stopParsing(socket: Socket & { readonly parser?: Parser | null }): void {
  // Node has no public name for it. In a version that lacks the field, the bytes are parsed.
  const { parser } = socket;
  if (parser && "onIncoming" in parser) parser.onIncoming = () => NO_MORE_HTTP;
}

/** A request to which Node's parser passes its body in parts, and `null` at the end. It returns whether it may go on. */
interface PushedRequest {
  push(part: Buffer | null, encoding?: BufferEncoding): boolean;
}

/**
 * Calls a function with the size of each part of a body that arrives.
 *
 * @param onPart returns whether more may be read; a part of a destroyed connection is dropped
 * @returns a function that ends the counting
 */
function countBody(request: IncomingMessage, onPart: (bytes: number) => boolean): () => void {
  const counted: PushedRequest & { push?: unknown } = request;
  const push = counted.push;
  counted.push = (part, encoding) => {
    const mayGoOn = part === null || onPart(part.length);
    if (!request.socket.destroyed) push.call(request, part, encoding);
    return mayGoOn;
  };
  return () => Reflect.deleteProperty(counted, "push");
}
