/** Values that the server signs, for links in mails and for a cookie. Each is valid for one purpose, until it expires. */
import { randomBytes } from "node:crypto";
import { issue_magic_token, verify_magic_token } from "tsweb/auth";

/** What a value is for. A value for one purpose is never valid for another one. */
export type Purpose = "sign-in" | "reset" | "confirm" | "provider";

/** In development, WEB_AUTH_SECRET may be missing. Values are then valid until the server restarts. */
const secret = process.env.WEB_AUTH_SECRET || randomBytes(32).toString("hex");

/** Returns a signed text with a value, which its holder can read. The value has at most about 1,000 bytes. */
export function signValue(purpose: Purpose, value: string, seconds: number): string {
  return issue_magic_token(secret, `${purpose} ${value}`, { ttl: seconds });
}

/** Returns the value of a signed text; `null` if it was changed, has expired, or is for another purpose. */
export function readValue(purpose: Purpose, signed: string): string | null {
  const text = verify_magic_token(secret, signed);
  return text?.startsWith(`${purpose} `) ? text.slice(purpose.length + 1) : null;
}
