import { createHash } from "node:crypto";
import { mac, type PurposeKeys, sameBytes } from "../session/index.ts";
import type { Position } from "./bus/index.ts";
import { MAX_NAME_BYTES } from "./name.ts";

/** How long a feed lives, in seconds: 24 hours. @see the interface, "Limits" */
export const FEED_SECONDS = 24 * 60 * 60;

/** What a feed says: who holds it may listen to a channel, from a position on. */
export interface FeedContent {
  readonly channel: string;
  readonly position: Position;
  /** The sign-in it was issued to; `null` when nobody was signed in. */
  readonly sid: string | null;
  /** When it was issued, in seconds since the epoch. */
  readonly issued: number;
}

/** A feed as it is presented: who asks, and when. */
export interface Presented {
  /** The sign-in of the request; `null` when nobody is signed in. */
  readonly sid: string | null;
  /** In seconds since the epoch. */
  readonly now: number;
}

/** A feed that was issued by us. */
export interface OpenFeed {
  readonly channel: string;
  readonly position: Position;
  /** It is over, or was issued to another sign-in. */
  readonly expired: boolean;
}

/** Half of the HMAC: 128 bits are as much as guessing can be asked for, and feeds stand in addresses. */
const MAC_BYTES = 16;
const TAG_BYTES = 8;

/** Version and expiry (in base 36), the tag of a sign-in, the position, and the channel: what is signed. */
const SIGNED = /^1([0-9a-z]{1,8})(?:\.([A-Za-z0-9_-]{11}))?\n([0-9A-Za-z.-]{1,40})\n(.+)\n$/su;

/** The longest feed, in characters. */
export const MAX_FEED_CHARS = Math.ceil(((1 + 8 + 12 + 1 + 40 + 1 + MAX_NAME_BYTES + 1 + MAC_BYTES) * 4) / 3);

/**
 * Writes a feed: base64url of four lines, of which the browser reads the second and the third (version and
 * expiry, position, channel, HMAC).
 *
 * A sign-in is held by a tag, 64 bits of its hash: enough to know it again, since whoever wanted
 * another with the same tag would have to sign in 2^64 times.
 *
 * @param keys those of the purpose `feed`
 */
export function writeFeed({ channel, position, sid, issued }: FeedContent, keys: PurposeKeys): string {
  const expiry = (Math.floor(issued) + FEED_SECONDS).toString(36);
  const bound = sid === null ? "" : `.${tagOf(sid).toString("base64url")}`;
  const signed = Buffer.from(`1${expiry}${bound}\n${position}\n${channel}\n`);
  return Buffer.concat([signed, signatureOf(signed, keys.sign)]).toString("base64url");
}

/**
 * Opens a feed that one of `keys` signed; `null` for everything else, whatever it is. A feed that is
 * ours, and over or another's, is `expired`: its holder is told so, and gets a new one with the page.
 *
 * @param text as it was presented; base64url in its one canonical form
 */
export function openFeed(text: string, { sid, now }: Presented, keys: PurposeKeys): OpenFeed | null {
  if (text.length > MAX_FEED_CHARS) return null;
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length <= MAC_BYTES || bytes.toString("base64url") !== text) return null;
  const signed = bytes.subarray(0, -MAC_BYTES);
  const given = bytes.subarray(-MAC_BYTES);
  if (!keys.verify.some((key) => sameBytes(signatureOf(signed, key), given))) return null;
  const [, expiry = "", tag, position, channel] = SIGNED.exec(signed.toString()) ?? [];
  if (position === undefined || channel === undefined) return null; // of another version of ours
  const isTheirs = tag === undefined || (sid !== null && sameBytes(tagOf(sid), Buffer.from(tag, "base64url")));
  return { channel, position, expired: now >= Number.parseInt(expiry, 36) || !isTheirs };
}

function signatureOf(signed: Uint8Array, key: PurposeKeys["sign"]): Buffer {
  return mac(key, signed).subarray(0, MAC_BYTES);
}

function tagOf(sid: string): Buffer {
  return createHash("sha256").update(sid).digest().subarray(0, TAG_BYTES);
}
