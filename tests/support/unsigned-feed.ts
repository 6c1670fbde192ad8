/**
 * Feeds for tests of what reads them, laid out as the server's are and signed by nobody.
 */
import type { Feed } from "../../src/protocol/feed.ts";

/** What a feed is for. */
export interface UnsignedFeedOptions {
  /** `p.0` unless it says otherwise. */
  readonly position?: string;
  /** Whether it is bound to a sign-in. */
  readonly bound?: boolean;
}

/** Gives a feed of a channel. */
export function unsignedFeed<T = unknown>(
  channel: string,
  { position = "p.0", bound = false }: UnsignedFeedOptions = {},
): Feed<T> {
  const tag = bound ? ".paWlpaWlpaU" : "";
  const mac = Buffer.alloc(16, 0xe2); // half of a character, and no end of one
  const bytes = Buffer.concat([Buffer.from(`1zik0zj${tag}\n${position}\n${channel}\n`), mac]);
  return bytes.toString("base64url") as Feed<T>; // the brand is the type's alone
}
