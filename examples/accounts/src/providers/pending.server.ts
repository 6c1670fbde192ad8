/** Sign-ins that have been started here, and continue at a provider. The browser has them in a signed cookie. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { request } from "tsweb";
import { readValue, signValue } from "../shared/signed-values.server.ts";
import { markAsUsed } from "../shared/tickets.server.ts";
import type { Checks } from "./providers.server.ts";

/** A sign-in that has been started. */
export interface PendingSignIn extends Checks {
  /** The provider's id. */
  readonly provider: string;
  /** The path to continue at, from the client: pass it to `redirect` with a fallback. May be empty. */
  readonly next: string;
}

const LIFETIME_SECONDS = 10 * 60;

/** With HTTPS, a page of a sibling domain cannot set a cookie with this prefix, so it cannot start a sign-in for the user. */
const COOKIE = `${process.env.WEB_COOKIE_SECURE === "1" ? "__Host-" : ""}accounts_provider`;

/** Starts a sign-in, and stores it in the browser of the request. It replaces an earlier one. */
export function startPending(provider: string, path: string | undefined): PendingSignIn {
  const [state = "", nonce = "", verifier = ""] = Array.from({ length: 3 }, () =>
    randomBytes(32).toString("base64url"),
  );
  const next = path && /^[\x21-\x7e]{1,500}$/.test(path) ? path : ""; // a cookie has at most 4,096 bytes
  const value = signValue("provider", [provider, state, nonce, verifier, next].join(" "), LIFETIME_SECONDS);
  request.set_cookie(COOKIE, value, { max_age: LIFETIME_SECONDS });
  return { provider, state, nonce, verifier, next };
}

/**
 * Returns the sign-in that the browser of the request has started with this provider and this state, once. `null` for a
 * callback that was started in another browser, at another provider, more than ten minutes ago, or that was used before.
 */
export async function takePending(provider: string, state: string | undefined): Promise<PendingSignIn | null> {
  const pending = parsePending(readValue("provider", request.cookies[COOKIE] ?? ""));
  // A callback of another sign-in leaves the cookie: otherwise, other sites could end a sign-in.
  if (!pending || pending.provider !== provider || !isEqual(pending.state, state ?? "")) return null;
  request.set_cookie(COOKIE, "", { max_age: 0 });
  return (await markAsUsed(`provider ${pending.state}`, LIFETIME_SECONDS)) ? pending : null;
}

function parsePending(value: string | null): PendingSignIn | null {
  const [provider, state, nonce, verifier, next] = value?.split(" ") ?? [];
  if (!provider || !state || !nonce || !verifier || next === undefined) return null;
  return { provider, state, nonce, verifier, next };
}

/** Compares in constant time. */
function isEqual(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash("sha256").update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
