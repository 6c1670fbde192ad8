declare const brand: unique symbol;

/**
 * A signed token that lets one page listen to one channel, whose messages are of this type. To whoever
 * holds it, it is a string: a page gets it from `channel(name)` and hands it to a view as a prop.
 *
 * @see the interface, "Feed"
 */
export type Feed<T = unknown> = string & { readonly [brand]: T };
