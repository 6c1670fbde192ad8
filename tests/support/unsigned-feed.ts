/**
 * Feeds for tests of code that reads feeds without verifying them. Their HMAC is not valid.
 */
import { type Feed, formatFeedText } from "../../src/protocol/index.ts";

/** The contents of a feed besides its channel. */
export interface UnsignedFeedOptions {
  /** Default: `p.0`. */
  readonly position?: string;
  /** Whether it is bound to a sign-in. */
  readonly bound?: boolean;
}

/** Returns a feed of a channel. */
export function unsignedFeed<T = unknown>(
  channel: string,
  { position = "p.0", bound = false }: UnsignedFeedOptions = {},
): Feed<T> {
  const text = formatFeedText({ expiresAt: 2_000_000_000, tag: bound ? "paWlpaWlpaU" : null, position, channel });
  const mac = Buffer.alloc(16, 0xe2); // the first byte of a UTF-8 character, without its other bytes
  return Buffer.concat([Buffer.from(text), mac]).toString("base64url") as Feed<T>; // the brand exists in the type only
}
