import { Redirect } from "../http/index.ts";
import { type Call, cancelledError, type SerializeOptions, type Stream, toJson } from "../protocol/index.ts";

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

type AnyIterator = AsyncIterator<unknown> | Iterator<unknown>;

const DONE = { done: true, value: undefined } as const;

/**
 * Returns the values of a generator as a {@link Stream}, for calls from server code. The generator starts at the
 * first read, its values pass the serialiser, and it can be cancelled from outside the loop.
 *
 * @see docs/protocol.md 5.5
 */
export function localStream(start: () => AnyIterator, serialization: SerializeOptions): Stream<unknown> {
  let generator: AnyIterator | undefined;
  let isRead = false;
  let ending: Promise<typeof DONE> | undefined;

  const end = () => {
    ending ??= (async () => {
      await generator?.return?.();
      return DONE;
    })();
    return ending;
  };

  return {
    cancel() {
      // An error of the generator's `finally` reaches the loop at its next read.
      end().catch(() => undefined);
    },
    [Symbol.asyncIterator]() {
      if (isRead) throw new TypeError("A stream can be read once: call again.");
      isRead = true;
      return {
        async next() {
          if (ending) return ending;
          generator ??= start();
          const step = await generator.next();
          if (ending) return ending; // cancelled meanwhile: the loop ends without this value
          if (step.done && step.value instanceof Redirect) throw step.value;
          if (step.done) return DONE;
          try {
            return { done: false, value: JSON.parse(toJson(await step.value, serialization)) };
          } catch (error) {
            // `for await` does not close an iterator whose `next()` rejects, so the generator's `finally` would not run.
            await end();
            throw error;
          }
        },
        return: end,
      };
    },
  };
}
