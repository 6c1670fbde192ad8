declare const brand: unique symbol;

/**
 * A signed token that lets one page listen to one channel, whose messages are of this type. To whoever
 * holds it, it is a string: a page gets it from `channel(name)` and hands it to a view as a prop.
 *
 * Its text is base64url of four lines (`\n`): version, expiry and sign-in; position; channel; and the 16
 * bytes of the HMAC. The browser reads the second and the third, to tell whose message has come and from
 * where to resume, and checks nothing. Neither a position nor a channel has a line break in it.
 *
 * @see the interface, "Feed"
 */
export type Feed<T = unknown> = string & { readonly [brand]: T };
