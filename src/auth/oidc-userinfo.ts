import { RPCError, ValueError } from "../errors.ts";
import { describeType } from "./require-bytes.ts";

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_TOKEN_CHARS = 16_384;

/** The claims about a user that an identity provider returns: `sub`, and those that the token's scopes include. */
export interface Userinfo {
  /** The user's id at this provider. It is not unique across providers. */
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/**
 * Requests the user's profile from the UserInfo endpoint of an OpenID Connect provider, and resolves with its claims.
 *
 * The request is sent over `https`, or over `http` to a loopback address. The provider has 10 seconds for the whole
 * response, which has at most 1 MiB of JSON. Redirects are not followed, so that the token is sent nowhere else.
 *
 * An access token does not prove for which application it was issued. Pass only a token that this application has
 * received for an authorization code, and compare `sub` with that of the ID token.
 *
 * @param endpoint the provider's `userinfo_endpoint`, chosen by the application, never by a client
 * @param access_token as the provider issued it
 * @throws TypeError if the endpoint is not an absolute `https` URL or contains a password, or the token is not a string
 * @throws ValueError if the token contains invalid characters or over 16,384 characters
 * @throws RPCError `unauthenticated` if the provider refuses the token
 * @throws RPCError `timeout` if the provider does not respond in time
 * @throws Error if the provider is unreachable or does not return a profile. The reason is its `cause`.
 * @see OpenID Connect Core 1.0, section 5.3; RFC 6750, section 2.1; docs/protocol.md 14.5
 */
export async function oidc_userinfo(endpoint: string | URL, access_token: string): Promise<Userinfo> {
  const url = parseEndpoint(endpoint);
  requireToken(access_token);
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(), TIMEOUT_MS);
  try {
    return await fetchProfile(url, access_token, timer.signal);
  } catch (error) {
    if (error instanceof RPCError) throw error;
    if (timer.signal.aborted) throw new RPCError("timeout", "The identity provider did not respond in time.");
    // Never a TypeError, as fetch throws it: its message would be sent to the caller (docs/protocol.md 5.4).
    throw new Error(`oidc_userinfo: ${url.origin} returned no profile`, { cause: error });
  } finally {
    clearTimeout(timeout);
  }
}

async function fetchProfile(url: URL, token: string, signal: AbortSignal): Promise<Userinfo> {
  const headers = { accept: "application/json", authorization: `Bearer ${token}` };
  const response = await fetch(url, { headers, redirect: "manual", signal });
  try {
    checkResponseHead(response);
    return parseProfile(await readText(response));
  } finally {
    // A body that is never read would keep the connection open.
    if (!response.bodyUsed) await response.body?.cancel();
  }
}

/** Throws unless status and content type are those of a profile. */
function checkResponseHead({ status, headers }: Response): void {
  if (status === 401 || status === 403) {
    throw new RPCError("unauthenticated", "The identity provider refused the access token.");
  }
  if (status >= 300 && status < 400) {
    throw new Error(`the provider responded with ${status}, a redirect, which is not followed`);
  }
  if (status !== 200) throw new Error(`the provider responded with ${status}`);
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  // application/jwt is a signed profile. Verifying it requires the provider's keys, which a full OpenID library has.
  if (type !== "application/json") {
    throw new Error(`the provider responded with ${type ?? "no content type"} instead of application/json`);
  }
}

/** Returns the body as text. The size is counted after decompression, so a compressed bomb is cut off. */
async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES) throw new Error(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

function parseProfile(text: string): Userinfo {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) throw new Error("the response is not a JSON object");
  const profile = value as Userinfo; // `sub` is checked in the next line, all other claims are unknown
  if (typeof profile.sub !== "string" || profile.sub === "") throw new Error("the response has no sub");
  return profile;
}

function parseEndpoint(endpoint: unknown): URL {
  const url = URL.parse(hrefOf(endpoint));
  if (!url) {
    throw new TypeError(
      `oidc_userinfo: the endpoint must be an absolute URL. Received: ${describeType(endpoint)}. Pass the ` +
        "provider's userinfo_endpoint.",
    );
  }
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    throw new TypeError("oidc_userinfo: the endpoint must be an https URL. Plain http is allowed for localhost only.");
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("oidc_userinfo: the endpoint must not contain a user name or password.");
  }
  return url;
}

/** Returns the text of a URL; of a `URL` of any implementation, because hosts and packages replace the global class. */
function hrefOf(endpoint: unknown): string {
  if (typeof endpoint === "string") return endpoint;
  return Object.prototype.toString.call(endpoint) === "[object URL]" ? String(endpoint) : "";
}

/** Returns whether a host is this machine. `URL` has normalized every spelling of an IPv4 address. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Refuses everything but the b64token of RFC 6750: other characters could add a header (header injection). */
function requireToken(token: unknown): asserts token is string {
  if (typeof token !== "string") {
    throw new TypeError(`oidc_userinfo: the access token must be a string. Received: ${describeType(token)}.`);
  }
  if (token.length > MAX_TOKEN_CHARS || !/^[A-Za-z0-9._~+/-]+=*$/.test(token)) {
    throw new ValueError("The access token is malformed.");
  }
}
