import { RPCError, ValueError } from "../errors.ts";

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_TOKEN_CHARS = 16_384;

/** What an identity provider says of a user: `sub`, and what the token's scopes let it say. */
export interface Userinfo {
  /** The user's id at this provider, and at no other. */
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/**
 * Fetches the user's profile from an OpenID Connect provider's userinfo endpoint, by an access token.
 *
 * The endpoint is asked over https, or plain http on this machine itself; it has 10 seconds to
 * answer whole, in 1 MiB of JSON at most, and is not followed elsewhere: the token is for it alone.
 *
 * An access token says nothing of whom it was issued to. Take one from this application's own
 * exchange of a code only, and compare `sub` with that of the ID token.
 *
 * @param endpoint the provider's `userinfo_endpoint`; the application's choice, never a visitor's
 * @param access_token as the provider issued it
 * @throws TypeError for an endpoint that is none, or not https, and for a token that is not a string
 * @throws ValueError for a token in which there are characters that none has, or over 16,384 of them
 * @throws RPCError `unauthenticated` when the provider refuses the token
 * @throws RPCError `timeout` when it does not answer in time
 * @throws Error when it cannot be reached, or answers with anything but a profile
 * @see OpenID Connect Core 1.0, section 5.3; RFC 6750, section 2.1; the interface, "OAuth / OpenID Connect"
 */
export async function oidc_userinfo(endpoint: string | URL, access_token: string): Promise<Userinfo> {
  const url = readEndpoint(endpoint);
  requireToken(access_token);
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(), TIMEOUT_MS);
  try {
    return await ask(url, access_token, timer.signal);
  } catch (error) {
    if (error instanceof RPCError) throw error;
    if (timer.signal.aborted) throw new RPCError("timeout", "The identity provider did not answer in time.");
    // Never a TypeError, as fetch throws it: that would be told to the visitor as their mistake.
    throw new Error(`oidc_userinfo: ${url.origin} gave no profile`, { cause: error });
  } finally {
    clearTimeout(timeout);
  }
}

async function ask(url: URL, token: string, signal: AbortSignal): Promise<Userinfo> {
  const headers = { accept: "application/json", authorization: `Bearer ${token}` };
  const response = await fetch(url, { headers, redirect: "manual", signal });
  try {
    checkAnswer(response);
    return readProfile(await readText(response));
  } finally {
    // What is not read would hold the connection.
    if (!response.bodyUsed) await response.body?.cancel();
  }
}

/** Throws unless the answer's head is that of a profile. */
function checkAnswer({ status, headers }: Response): void {
  if (status === 401 || status === 403) {
    throw new RPCError("unauthenticated", "The identity provider refused the access token.");
  }
  if (status >= 300 && status < 400) throw new Error(`it answered ${status}, a redirect, which is not followed`);
  if (status !== 200) throw new Error(`it answered ${status}`);
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  // application/jwt is a signed profile, which wants the provider's keys: its own library has them.
  if (type !== "application/json")
    throw new Error(`it answered ${type ?? "without a content type"}, not application/json`);
}

/** Reads at most {@link MAX_ANSWER_BYTES}, counted as they come out of any compression. */
async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new Error(`its answer is over ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

function readProfile(text: string): Userinfo {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) throw new Error("its answer is not a JSON object");
  const profile = value as Userinfo; // but for sub, which the next line asks after
  if (typeof profile.sub !== "string" || profile.sub === "") throw new Error("its answer has no sub");
  return profile;
}

function readEndpoint(endpoint: unknown): URL {
  const url = typeof endpoint === "string" ? URL.parse(endpoint) : endpoint;
  if (!(url instanceof URL)) throw new TypeError("oidc_userinfo: the endpoint must be a URL.");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    throw new TypeError("oidc_userinfo: the endpoint must be https; http is for this machine only.");
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("oidc_userinfo: the endpoint must not carry a user name or password.");
  }
  return new URL(url);
}

/** The URL parser has written every form of an IPv4 address as four decimal numbers. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function requireToken(token: unknown): asserts token is string {
  if (typeof token !== "string") throw new TypeError("oidc_userinfo: the access token must be a string.");
  // RFC 6750's b64token. Anything else in a header could be read as two.
  if (token.length > MAX_TOKEN_CHARS || !/^[A-Za-z0-9._~+/-]+=*$/.test(token)) {
    throw new ValueError("The access token is none that a provider issues.");
  }
}
