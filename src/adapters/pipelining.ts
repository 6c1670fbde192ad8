import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { currentResponse } from "./response-state.ts";

/** How many pipelined requests may wait on a connection. Clients that pipeline at all send about ten. */
const MAX_WAITING = 100;

/** The number of waiting requests, by connection. */
const waitingRequests = new WeakMap<Socket, number>();

/**
 * Starts to handle a request after all earlier responses on its connection were sent.
 *
 * A client may pipeline requests, and Node emits all of them at once. A response that is written before its turn
 * stays in memory: with a few bytes for each request, an attacker would make the server hold page after page. Such a
 * response also gets no `close` event when the connection closes: a stream behind another stream would never end.
 *
 * A connection with too many waiting requests is destroyed. Requests that wait on a connection that closes are
 * never handled.
 */
export function whenPreviousSent(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  const { socket } = request;
  if (!isQueued(response, socket)) {
    // On the next tick the parser has taken in a body that arrived with its headers: it can be read without waiting.
    process.nextTick(handle, request, response);
    return;
  }
  const count = (waitingRequests.get(socket) ?? 0) + 1;
  waitingRequests.set(socket, count);
  if (count > MAX_WAITING) socket.destroy();
  // In its own asynchronous context: the event is emitted in that of the previous request, whose trace it does not belong to.
  const onSocket = AsyncResource.bind(() => {
    waitingRequests.set(socket, (waitingRequests.get(socket) ?? 1) - 1);
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
