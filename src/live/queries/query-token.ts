import { createHash } from "node:crypto";
import { MAX_QUERY_TOKEN_CHARS } from "../../protocol/index.ts";
import { type PurposeKeys, sessionTag, signToken, verifyToken } from "../../session/index.ts";
import { isHolder } from "../feed.ts";

/** A query with arguments, as its token and its id contain it. */
export interface QueryText {
  /** The name of the query. */
  readonly name: string;
  /** The hash of its signature. */
  readonly hash: string;
  /** The channels whose messages make the value outdated. */
  readonly channels: readonly string[];
  /** The arguments by the names of their parameters, as JSON with sorted keys. */
  readonly argsText: string;
}

/** The content of the token of a query: the permission to receive its value for these arguments. */
export interface QueryPayload extends QueryText {
  /** The id of the sign-in that the token is issued to; `null` for a signed-out client. */
  readonly sid: string | null;
  /** In whole seconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** A token that this application has issued. */
export interface VerifiedQuery extends QueryText {
  /** Identifies the sign-in that it was issued to; `null` for a signed-out client. */
  readonly tag: string | null;
  readonly expiresAt: number;
  /** Whether its lifetime is over, or it was issued to another sign-in. */
  readonly expired: boolean;
}

const VERSION = 1;

/** The length of the id of a query, in bytes of its hash: two queries never have the same one by chance. */
const ID_BYTES = 12;

/**
 * Returns the signed token of a query. Its holder can read its content, and cannot change it. It may be longer than
 * {@link MAX_QUERY_TOKEN_CHARS}: check its length, because {@link verifyQuery} refuses it then.
 *
 * @param keys the keys of the purpose `query`
 * @see docs/protocol.md 10.13
 */
export function signQuery({ name, hash, channels, argsText, sid, expiresAt }: QueryPayload, keys: PurposeKeys): string {
  const header = [VERSION, expiresAt, sid === null ? null : sessionTag(sid), name, hash, channels];
  return signToken(keys.sign, `${JSON.stringify(header)}\n${argsText}`); // JSON contains no line feed
}

/**
 * Verifies a token that was signed with one of `keys`. Returns `null` for anything else. A token of this application that is no
 * longer valid is returned as `expired`.
 *
 * @param token of any type, since it comes from the client
 * @param presenter the sign-in of the request, `null` for a signed-out client, and the time in seconds since the Unix epoch
 * @see docs/protocol.md 10.13
 */
export function verifyQuery(
  token: unknown,
  { sid, now }: { readonly sid: string | null; readonly now: number },
  keys: PurposeKeys,
): VerifiedQuery | null {
  if (typeof token !== "string" || token.length > MAX_QUERY_TOKEN_CHARS) return null; // before the work for its signature
  const text = verifyToken(keys.verify, token);
  if (text === null) return null;
  const lineFeed = text.indexOf("\n");
  // Signed, so it is JSON; another version of tsweb may have signed another form.
  const [version, expiresAt, tag, name, hash, channels] = JSON.parse(text.slice(0, lineFeed));
  if (version !== VERSION) return null;
  const expired = now >= expiresAt || !isHolder(tag, sid);
  return { name, hash, channels, argsText: text.slice(lineFeed + 1), tag, expiresAt, expired };
}

/**
 * Returns the id of a query with its arguments: all pages with this id receive the same value, unless the query reads the
 * session. 16 characters of base64url.
 */
export function queryId({ name, hash, channels, argsText }: QueryText): string {
  // No part contains a line feed: names are identifiers, and JSON has none.
  const text = `${name}\n${hash}\n${JSON.stringify(channels)}\n${argsText}`;
  return createHash("sha256").update(text).digest().subarray(0, ID_BYTES).toString("base64url");
}
