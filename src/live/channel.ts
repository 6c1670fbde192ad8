import { requireContext } from "../http/index.ts";
import type { Feed } from "../protocol/index.ts";
import { keysFor, sessionId } from "../session/index.ts";
import type { Position } from "./bus/index.ts";
import { checkChannelName } from "./channel-name.ts";
import { currentBus } from "./current-bus.ts";
import { signFeed } from "./feed.ts";

/** How long `channel` waits for the bus, so that an unreachable bus does not delay pages for longer. */
const POSITION_TIMEOUT_MS = 2_000;

/**
 * Resolves with a feed: a token that allows its holder to subscribe to the channel for 24 hours, from the current
 * position on. A feed that is issued to a signed-in user is valid for that sign-in only, until it ends.
 *
 * Call it **before** you load what the page shows: a message that is published in between is then in the loaded data,
 * in the feed or in both. If `load` is passed, it is called after the feed was issued.
 *
 * The type of the messages cannot be inferred: pass it as `channel<Message>(name)`, or leave it to the view's
 * `feed: Feed<Message>`, which accepts the result.
 *
 * @param name 1 to 128 bytes, no control characters. Any holder of the feed can subscribe: call `session.require()`
 *   before, if access is restricted.
 * @param load loads the data that the page shows. The result is then `[feed, data]`.
 * @throws TypeError for an invalid name
 * @throws Error outside a request, or when the bus does not respond within 2 seconds
 * @see docs/protocol.md 10.2
 * @example const [feed, messages] = await channel("room:1", () => db.messages("room:1"));
 */
export function channel<T = never>(name: string): Promise<Feed<T>>;
/** Resolves with a feed and the result of `load`, which is called after the feed was issued. */
export function channel<T = never, R = unknown>(
  name: string,
  load: () => R | Promise<R>,
): Promise<[feed: Feed<T>, loaded: R]>;
export async function channel<T>(name: string, load?: () => unknown): Promise<Feed<T> | [Feed<T>, unknown]> {
  const context = requireContext("channel()");
  checkChannelName(name, "channel");
  const position = await currentPosition(name);
  const payload = { channel: name, position, sid: sessionId(context), issuedAt: Date.now() / 1000 };
  const feed = signFeed(payload, keysFor(context.config, "feed")) as Feed<T>; // the brand exists in the type only
  return load ? [feed, await load()] : feed;
}

async function currentPosition(name: string): Promise<Position> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const seconds = POSITION_TIMEOUT_MS / 1000;
      reject(
        new Error(`channel: the bus did not return the position of ${name} within ${seconds} s. Is it reachable?`),
      );
    }, POSITION_TIMEOUT_MS);
  });
  try {
    const [position] = await Promise.race([currentBus("channel").position([name]), timeout]);
    if (position === undefined) throw new Error(`channel: the bus returned no position of ${name}.`);
    return position;
  } finally {
    clearTimeout(timer);
  }
}
