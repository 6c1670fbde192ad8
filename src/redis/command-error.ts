/**
 * Returns whether Redis has replied with an error, such as `OOM` or `NOPERM`: it is reachable, and has refused the command.
 * The name is that of the classes of ioredis.
 */
export function isReplyError(error: unknown): error is Error {
  return error instanceof Error && error.name === "ReplyError";
}

/**
 * Returns an error with the reason for which a command has failed. When the connection is lost, ioredis rejects the commands
 * in flight with an error about one of its own options.
 *
 * @param address the server, without user name and password
 */
export function commandError(error: unknown, address: string): unknown {
  if (!(error instanceof Error && error.name === "MaxRetriesPerRequestError")) return error;
  return new Error(`The connection to Redis at ${address} was closed before it replied.`);
}
