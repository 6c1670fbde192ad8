import { PRESENCE_VERSION_SEPARATOR } from "../protocol/index.ts";
import { type PurposeKeys, sessionTag, signToken, verifyToken } from "../session/index.ts";
import { isHolder } from "./feed.ts";

/** The content of a presence token: the permission to be present in a channel, as this user and with these data. */
export interface PresencePayload {
  readonly channel: string;
  /** Identifies the page load: 22 characters of base64url. */
  readonly id: string;
  /** The user id; `null` for a signed-out client. */
  readonly user: string | null;
  /** The data that the page has passed, as JSON. */
  readonly data: string;
  /** The id of the sign-in that the token is issued to; `null` for a signed-out client. */
  readonly sid: string | null;
  /** In seconds since the Unix epoch. */
  readonly issuedAt: number;
  /** In whole seconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** A presence token that this application has issued. */
export interface VerifiedPresence extends Omit<PresencePayload, "sid"> {
  /** Identifies the sign-in that it was issued to; `null` for a signed-out client. */
  readonly tag: string | null;
  /** Whether its lifetime is over, or it was issued to another sign-in. */
  readonly expired: boolean;
}

const VERSION = 1;

/**
 * Returns a signed presence token. Its holder can read its content.
 *
 * @param keys the keys of the purpose `presence`
 * @see docs/protocol.md 10.12
 */
export function signPresence(
  { channel, id, user, data, sid, issuedAt, expiresAt }: PresencePayload,
  keys: PurposeKeys,
): string {
  const header = [VERSION, expiresAt, sid === null ? null : sessionTag(sid), id, channel, user, issuedAt];
  return signToken(keys.sign, `${JSON.stringify(header)}\n${data}`); // JSON contains no line feed
}

/**
 * Verifies a token that was signed with one of `keys`. Returns `null` for any other text. A token of this application that is
 * no longer valid is returned as `expired`.
 *
 * @param presenter the sign-in of the request, `null` for a signed-out client, and the time in seconds since the Unix epoch
 * @see docs/protocol.md 10.12
 */
export function verifyPresence(
  token: string,
  { sid, now }: { readonly sid: string | null; readonly now: number },
  keys: PurposeKeys,
): VerifiedPresence | null {
  const text = verifyToken(keys.verify, token);
  if (text === null) return null;
  const lineFeed = text.indexOf("\n");
  // Signed, so it is JSON; another version of tsweb may have signed another form.
  const [version, expiresAt, tag, id, channel, user, issuedAt] = JSON.parse(text.slice(0, lineFeed));
  if (version !== VERSION) return null;
  const data = text.slice(lineFeed + 1);
  return { channel, id, user, data, tag, issuedAt, expiresAt, expired: now >= expiresAt || !isHolder(tag, sid) };
}

/** Splits what a page sends: its token, and the version of the list that it has, if any. */
export function splitPresenceToken(text: string): { readonly token: string; readonly version: string | undefined } {
  const [token = "", version] = text.split(PRESENCE_VERSION_SEPARATOR, 2);
  return { token, version };
}
