import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

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
