import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A handler of Node's servers. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** The requests whose bodies have time limits of their own, by connection. */
const ownTimeLimits = new WeakMap<Socket, IncomingMessage>();

/** Exempts a request from the `requestTimeout` of the server: the code that reads its body limits the time. */
export function exemptFromRequestTimeout(request: IncomingMessage): void {
  ownTimeLimits.set(request.socket, request);
}

/**
 * Returns whether the request that a connection receives has a time limit of its own. A later request on the same
 * connection does not.
 */
export function isExemptFromRequestTimeout(socket: Socket): boolean {
  const request = ownTimeLimits.get(socket);
  return request !== undefined && !request.complete && !request.destroyed;
}

/**
 * Returns a handler that closes the connection of a request whose body has not arrived in time, for a server that has no
 * `requestTimeout` of its own: that of Deno never closes a connection that receives a byte now and then of a body that nobody reads.
 *
 * @param maxMs closed after this time. A request with a time limit of its own is exempt for as long as it arrives.
 */
export function limitArrival(next: RequestHandler, maxMs: number): RequestHandler {
  return (request, response) => {
    const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
    if (length !== "0" || encoding !== undefined) closeIfNotArrived(request, maxMs);
    next(request, response);
  };
}

function closeIfNotArrived(request: IncomingMessage, maxMs: number): void {
  const { socket } = request; // Deno emits no `close` of a request whose body nobody reads
  const check = () => {
    if (request.complete) clear();
    else if (!isExemptFromRequestTimeout(socket)) socket.destroy();
  };
  const timer = setInterval(check, maxMs).unref();
  const clear = () => {
    clearInterval(timer);
    request.off("end", clear);
    socket.off("close", clear);
  };
  request.once("end", clear);
  socket.once("close", clear);
}
