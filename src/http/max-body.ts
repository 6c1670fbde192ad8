/** The largest value of the option `max_body`, in bytes: 1 PiB. */
const MAX_BYTES = 2 ** 50;

/**
 * Checks the option `max_body`.
 *
 * @param location the call that has the option, for the error message: `new App`
 * @throws RangeError if it is not a whole number of bytes in range
 */
export function checkMaxBody(bytes: unknown, location: string): asserts bytes is number | undefined {
  if (bytes === undefined) return;
  if (Number.isSafeInteger(bytes) && Number(bytes) >= 1 && Number(bytes) <= MAX_BYTES) return;
  throw new RangeError(
    `${location}: max_body is ${String(bytes)}. It must be a whole number of bytes from 1 to ${MAX_BYTES}, for ` +
      "example 20_000_000.",
  );
}
