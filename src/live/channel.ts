import { requireContext } from "../http/index.ts";
import type { Feed } from "../protocol/index.ts";
import { keysFor, sessionId } from "../session/index.ts";
import type { Position } from "./bus/index.ts";
import { writeFeed } from "./feed.ts";
import { checkName } from "./name.ts";
import { currentBus } from "./realtime.ts";

/** How long the bus has to say where a channel stands: a page is not held up for longer. */
const POSITION_MS = 2_000;

/**
 * Gives a feed: whoever holds it may listen to the channel, from this moment on, for 24 hours. Issued
 * to a signed-in visitor, it is theirs alone, and over when they sign out.
 *
 * Ask for it **before** loading what the page shows: what is published in between is then in the page,
 * in the feed or in both, and never in neither. Or give `load`, and that order is kept for you.
 *
 * What is published there, nothing here can know: the feed fits wherever a page says what it takes it for,
 * a view's `feed: Feed<Message>`. `channel<Message>(name)` says it here.
 *
 * @param name 1 to 128 bytes, no control characters. Who may listen is decided here: ask
 *   `session.require()` first where not everybody may
 * @throws TypeError for a name that cannot be used
 * @throws Error outside a request, or when the bus does not answer within 2 seconds
 * @see the interface, "Feed"
 * @example const [feed, messages] = await channel("room:1", () => db.messages("room:1"));
 */
export function channel<T = never>(name: string): Promise<Feed<T>>;
export function channel<T = never, R = unknown>(
  name: string,
  load: () => R | Promise<R>,
): Promise<[feed: Feed<T>, loaded: R]>;
export async function channel<T>(name: string, load?: () => unknown): Promise<Feed<T> | [Feed<T>, unknown]> {
  const context = requireContext("channel()");
  checkName(name, "channel");
  const position = await positionOf(name);
  const content = { channel: name, position, sid: sessionId(context), issued: Date.now() / 1000 };
  const feed = writeFeed(content, keysFor(context.config, "feed")) as Feed<T>; // the brand is the type's alone
  return load ? [feed, await load()] : feed;
}

async function positionOf(name: string): Promise<Position> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`channel: the bus did not say within ${POSITION_MS / 1000} s where ${name} stands.`));
    }, POSITION_MS);
  });
  try {
    const [position] = await Promise.race([currentBus().position([name]), late]);
    if (position === undefined) throw new Error(`channel: the bus gave no position of ${name}.`);
    return position;
  } finally {
    clearTimeout(timer);
  }
}
