/**
 * Feeds as the browser has them: without a key, it reads them and verifies nothing. And the types of the messages of channels.
 *
 * @see docs/protocol.md 10.2
 */
import type { FeedLines } from "./feed-layout.ts";
import type { SerializedResult } from "./serialized.ts";

declare const brand: unique symbol;

/**
 * A signed token that allows a page to subscribe to one channel, whose messages have this type. It is a string: a page
 * gets it from `channel(name)` and passes it to a view as a prop.
 *
 * The type is used on the server and in the browser. The server writes and verifies the text of a feed in live/; the
 * browser reads the position and the channel from it with `readFeed` and verifies nothing.
 *
 * @see docs/protocol.md 10.2
 */
export type Feed<T = unknown> = string & { readonly [brand]: T };

/** The fields of a feed that the browser uses. */
export interface FeedContent {
  readonly channel: string;
  /** The channel's position when the feed was issued. The feed covers the messages after it. */
  readonly position: string;
}

/**
 * Returns the channel and the position of a feed. Only the server can verify a feed.
 *
 * @throws TypeError if the text cannot be a feed
 */
export function readFeed(feed: string): FeedContent {
  try {
    const bytes = Uint8Array.from(atob(feed.replaceAll("-", "+").replaceAll("_", "/")), (byte) => byte.charCodeAt(0));
    // The HMAC is not UTF-8 text. It is behind the last line break, so decoding it does no harm.
    const [, position, channel]: FeedLines = new TextDecoder().decode(bytes).split("\n");
    if (position && channel) return { position, channel };
  } catch {
    // Not base64: handled below.
  }
  throw new TypeError(
    process.env.NODE_ENV === "production"
      ? "Not a feed of channel()"
      : `subscribe() needs a feed of channel()${feedAdvice(feed)}`,
  );
}

/** Returns what to write instead of a value that is no feed. In development only. */
function feedAdvice(value: unknown): string {
  const isName = typeof value === "string" && value.length < 100;
  const name = isName ? JSON.stringify(value) : '"name"';
  const received = isName ? name : `a value of type ${value === null ? "null" : typeof value}`;
  return (
    `, and received ${received}. Create the feed in the page, and pass it to the view as a prop: ` +
    `\`feed={await channel(${name})}\`. In the view, call subscribe(feed, handler).`
  );
}

/**
 * The types of the messages of an application's channels, by the names of the channels. Declare them once, and
 * `publish`, `channel` and `subscribe` check the messages of these channels. A template literal declares all channels
 * whose names have this form. A channel that is not declared takes any message.
 *
 * Declare the type that is published: a subscriber receives it as it was serialised, a `Date` as a string. If several
 * declared names match a channel, a message must have the types of all of them.
 *
 * @example
 * // src/channels.d.ts
 * import "tsweb"; // without this import, the declaration would replace the exports of tsweb
 * import type { BoardMessage, Notice } from "./messages.ts";
 *
 * declare module "tsweb" {
 *   interface Channels {
 *     [name: `board:${string}`]: BoardMessage;
 *     notices: Notice;
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications add their channels to it
export interface Channels {}

/**
 * The type of the messages of a channel: the one that {@link Channels} declares for its name, otherwise `unknown`. A view
 * uses it for its feed: `Feed<ChannelMessage<"notices">>`, or `` Feed<ChannelMessage<`board:${string}`>> ``.
 */
export type ChannelMessage<Name extends string> = Name extends keyof Channels ? Channels[Name] : unknown;

/** The type of a message that is published to a channel whose name is one of `Name`: it must fit each of them. */
export type PublishedMessage<Name extends string> = (
  Name extends unknown
    ? (message: ChannelMessage<Name>) => void
    : never
) extends (message: infer Message) => void
  ? Message
  : never;

/**
 * The arguments of `publish` after the name: the message, which may be left out where it is `undefined` or `null` anyway, and
 * for a channel that is not declared. Subscribers then receive `null`.
 */
export type PublishArguments<Name extends string> = OptionalData<PublishedMessage<Name>>;

type OptionalData<Message> = [Message] extends [never]
  ? [data: Message]
  : undefined extends Message
    ? [data?: Message]
    : [Message] extends [null]
      ? [data?: Message]
      : [data: Message];

/** The default of the type argument `T` of `channel`: the type is that of the name. */
declare const byName: unique symbol;
export type MessageByName = typeof byName;

/**
 * The type argument of the feed that `channel` returns. Of an undeclared channel it is `never`, so that the feed can be
 * passed to a view with any message type.
 *
 * @template T the type argument that the caller has passed, or the default
 */
export type FeedMessage<T, Name extends string> = 0 extends 1 & T
  ? NoInfer<T> // any
  : [T] extends [MessageByName]
    ? [Extract<Name, keyof Channels>] extends [never]
      ? never
      : ChannelMessage<Name>
    : NoInfer<T>;

/**
 * The type of the messages that `listen` returns, as they were serialised: `unknown` for an undeclared channel.
 *
 * @template T the type argument that the caller has passed, or the default
 */
export type ListenedMessage<T, Name extends string> = [FeedMessage<T, Name>] extends [never]
  ? unknown
  : SerializedResult<FeedMessage<T, Name>>;
