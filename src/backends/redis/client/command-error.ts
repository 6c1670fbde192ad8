/**
 * Returns whether Redis has replied with an error, such as `OOM` or `NOPERM`: it is reachable, and has refused the command.
 * The name is that of the classes of ioredis.
 */
export function isReplyError(error: unknown): error is Error {
  return error instanceof Error && error.name === "ReplyError";
}

/** What ioredis says of a connection that is lost. Its errors have no code, and the texts are about its own options. */
const LOST = ["Stream isn't writeable and enableOfflineQueue options is false", "Connection is closed."];

/** Returns whether ioredis has not sent a command, because the connection is lost. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && LOST.some((text) => error.message.endsWith(text)); // after "Ready check failed: "
}

/**
 * Returns an error with the reason for which a command has failed. When the connection is lost, ioredis rejects the commands
 * in flight, and those that follow before it has noticed, with errors about its own options.
 *
 * @param address the server, without user name and password
 */
export function commandError(error: unknown, address: string): unknown {
  if (isConnectionLost(error)) return new Error(`The connection to Redis at ${address} was lost.`);
  if (!(error instanceof Error && error.name === "MaxRetriesPerRequestError")) return error;
  return new Error(`The connection to Redis at ${address} was closed before it replied.`);
}
