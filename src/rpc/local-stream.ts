import type { Stream } from "../protocol/index.ts";
import { toJson } from "../protocol/index.ts";

type AnyIterator = AsyncIterator<unknown> | Iterator<unknown>;

const OVER = { done: true, value: undefined } as const;

/**
 * Gives a generator the manners of a stream, for callers on the server: it starts at the first
 * read, values pass the serialiser, and it can be cancelled from outside the loop.
 */
export function localStream(start: () => AnyIterator): Stream<unknown> {
  let generator: AnyIterator | undefined;
  let read = false;
  let ending: Promise<typeof OVER> | undefined;

  const end = () => {
    ending ??= (async () => {
      await generator?.return?.();
      return OVER;
    })();
    return ending;
  };

  return {
    cancel() {
      // What the generator's `finally` throws is told to the loop at its next read.
      end().catch(() => undefined);
    },
    [Symbol.asyncIterator]() {
      if (read) throw new TypeError("A stream can be read once: call the function again for another.");
      read = true;
      return {
        async next() {
          if (ending) return ending;
          generator ??= start();
          const step = await generator.next();
          if (ending) return ending; // cancelled meanwhile: the loop ends without this value
          if (step.done) return OVER;
          try {
            return { done: false, value: JSON.parse(toJson(await step.value)) };
          } catch (error) {
            // The loop does not close what failed under it, so its `finally` would never run.
            await end();
            throw error;
          }
        },
        return: end,
      };
    },
  };
}
