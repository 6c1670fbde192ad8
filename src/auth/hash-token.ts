import { hashToken } from "../session/index.ts";
import { describeType } from "./require-bytes.ts";

/**
 * Returns the SHA-256 of a token as base64url: 43 characters, the same for the same token. Store it in place of an API key, and look
 * the key up by it. No secret is then in the database, and no code compares secrets, which could reveal them by its time.
 *
 * It is for tokens of at least 16 random bytes only, such as `randomBytes(32).toString("base64url")`. A password can be guessed from
 * such a hash: use `hash_password` for it.
 *
 * @param token a non-empty string
 * @throws TypeError for anything else. The token is not in the message.
 */
export function hash_token(token: string): string {
  if (typeof token === "string" && token !== "") return hashToken(token);
  const received = token === "" ? "an empty string" : describeType(token);
  throw new TypeError(`hash_token: the token must be a non-empty string. Received: ${received}.`);
}
