/** Returns the error of a command that is refused because there is no connection to Redis. */
export function unreachableError(address: string): Error {
  return new Error(`Redis at ${address} is unreachable.`);
}
