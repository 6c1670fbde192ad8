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
