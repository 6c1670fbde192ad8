import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How many requests may wait for their turn on a connection. Clients that send ahead at all send some ten. */
const MOST_WAITING = 100;

/** How many wait, of each connection on which any did. */
const waiting = new WeakMap<Socket, number>();

/**
 * Begins with a request when it is its turn: when the answers before it on its connection have left.
 *
 * A client may send requests ahead, and Node hands on all of them at once. What is written of an answer before
 * its turn stays in memory: a few bytes for each request would have us hold page after page. And such an answer
 * is not told that the connection has closed: a stream behind a stream would go on for ever, read by nobody.
 *
 * A connection on which too many wait is cut; those that wait on one that closes are never begun.
 */
export function inTurn(
  request: IncomingMessage,
  response: ServerResponse,
  begin: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  const { socket } = request;
  // The parser takes in a body that came with its headers once we give way: then nobody has to wait for it.
  const now = () => process.nextTick(begin, request, response);
  if (!waits(response, socket)) {
    now();
    return;
  }
  const count = (waiting.get(socket) ?? 0) + 1;
  waiting.set(socket, count);
  if (count > MOST_WAITING) socket.destroy();
  response.once("socket", () => {
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
    now();
  });
}

/** Answers whether the connection is another answer's: Node gives it to one at a time, in order. */
function waits(response: ServerResponse, socket: Socket & { readonly _httpMessage?: unknown }): boolean {
  // Node's own field. Where a server has none, it has its own way with requests sent ahead.
  const { _httpMessage: first } = socket;
  return response.socket === null && first instanceof Object && first !== response;
}
