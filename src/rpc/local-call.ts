import { type Call, cancelledError } from "../protocol/index.ts";

/**
 * Returns work as a {@link Call}, for calls from server code. A cancelled call rejects at once, and the work runs to its
 * end: `request.signal` belongs to the request of the caller, which goes on.
 *
 * @param name the name of the function
 * @param work starts at once; it does not throw synchronously
 * @see docs/protocol.md 5.5
 */
export function localCall<T>(name: string, work: () => Promise<T>): Call<T> {
  let rejectCall: (reason: unknown) => void;
  const call = new Promise<T>((resolve, reject) => {
    rejectCall = reject;
    work().then(resolve, reject); // after a cancellation, neither has an effect
  });
  return Object.assign(call, {
    cancel() {
      rejectCall(cancelledError(name));
      call.catch(() => undefined); // the caller does not want the result, so the rejection need not be handled
    },
  });
}
