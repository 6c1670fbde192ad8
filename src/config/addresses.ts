import { isIP } from "node:net";
import { InvalidVariableError, quoteValue } from "./config-error.ts";
import { type BusAddress, hasUnusedPath, parseNamespace, splitBusUrl } from "./namespace.ts";

/** Returns the origins of `WEB_ORIGIN`, without duplicates. @see docs/protocol.md 8.2 */
export function parseOrigins(text: string): readonly string[] {
  return [...new Set(text.split(",").map((item) => parseOrigin(item.trim())))];
}

/**
 * Returns an origin as browsers send it in `Origin`. A URL with a path, a query or a wildcard is refused: it could never
 * match. A URL with a user name or password is not shown in the message.
 */
function parseOrigin(text: string): string {
  const url = /^https?:\/\/[^\s\\*]+$/i.test(text) && URL.canParse(text) ? new URL(text) : null;
  // The href contains all parts that an origin does not have: credentials, a path, a query, even an empty one.
  if (url && url.href === `${url.origin}/`) return url.origin;
  const problem = text.includes("@")
    ? "contains a user name or password."
    : `contains ${quoteValue(text)}, which is not an origin.`;
  throw new InvalidVariableError(
    problem,
    "List origins without a path, separated by commas: https://shop.example,https://www.shop.example",
  );
}

/**
 * Returns the URL of a bus, and the namespace that it contains. The URL may contain a password, so the message never
 * shows it.
 */
export function parseBusUrl(text: string): BusAddress {
  const server = parseServerUrl(text);
  if (!server) {
    throw new InvalidVariableError(
      "is not the URL of a bus. Its value is not shown, since it may contain a password.",
      "Set it to redis://host:6379, rediss://…, nats://host:4222 or tls://…. In a user name or password, write %, /, ?, # " +
        "and @ as %25, %2F, %3F, %23 and %40.",
    );
  }
  if (hasUnusedPath(server)) {
    throw new InvalidVariableError(
      "has a path, which NATS does not have. Its value is not shown, since it may contain a password.",
      "To separate applications, end it with a namespace: nats://host:4222?namespace=shop",
    );
  }
  const address = splitBusUrl(server);
  if (address.namespace === undefined || parseNamespace(address.namespace) !== undefined) return address;
  throw new InvalidVariableError(
    `has the namespace ${quoteValue(address.namespace)}, which is not 1 to 64 letters, digits, - and _.`,
    "Choose another one, as in redis://host:6379?namespace=shop, or leave it out: the name in package.json is used.",
  );
}

/** Returns a path that no reserved path of tsweb overlaps. */
export function parseMetricsPath(text: string): string {
  const isPlain = text.length <= 200 && /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(text);
  const isReserved = /^\/(__web|healthz|readyz)(\/|$)/.test(text);
  if (isPlain && !isReserved) return text;
  throw new InvalidVariableError(
    `is ${quoteValue(text)}, ${isReserved ? "which is reserved" : "which is not a plain path"}.`,
    "Set it to another path, for example /metrics.",
  );
}

/** Returns a token as the header `Authorization` can carry it. The message never shows it. @see RFC 6750, section 2.1 */
export function parseMetricsToken(text: string): string {
  if (/^[A-Za-z0-9._~+/-]{32,200}=*$/.test(text)) return text;
  throw new InvalidVariableError(
    "is not a token of 32 to 200 letters, digits and - . _ ~ + /. Its value is not shown.",
    "Create one with: node -e \"console.log(require('node:crypto').randomBytes(32).toString('hex'))\"",
  );
}

/** Returns an IP address or a host name as it is. */
export function parseHost(text: string): string {
  if (isIP(text) !== 0) return text;
  const label = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
  // A name of digits and dots only is a mistyped IPv4 address.
  const isName = new RegExp(`^(?=.{1,253}$)${label}(\\.${label})*$`).test(text) && !/^[0-9.]+$/.test(text);
  if (isName) return text;
  throw new InvalidVariableError(
    `is ${quoteValue(text)}, which is neither an IP address nor a host name.`,
    "Set it without scheme, port and brackets, for example 0.0.0.0, 127.0.0.1, ::1 or localhost.",
  );
}

/** The URL of a bus with one host or several: `redis://user:password@a:6379,b:6379/1?namespace=shop`. */
export interface ServerUrl {
  /** The URL with the first host. It may contain a password: never log it. */
  readonly url: URL;
  /** The hosts, each with its port if it has one. */
  readonly hosts: readonly string[];
}

/** Parses the URL of a bus. Returns undefined if it is not one. */
export function parseServerUrl(text: string): ServerUrl | undefined {
  const [, start, list, rest] = /^((?:redis|rediss|nats|tls):\/\/(?:[^/?#\s]*@)?)([^/?#@\s]+)(\S*)$/.exec(text) ?? [];
  if (start === undefined || list === undefined || rest === undefined) return undefined;
  const hosts = list.split(",");
  const urls = hosts.map((host) => (URL.canParse(start + host + rest) ? new URL(start + host + rest) : undefined));
  if (urls.some((url) => url === undefined || url.hostname === "")) return undefined;
  const [url] = urls;
  return url && hasReadableCredentials(url) ? { url, hosts } : undefined;
}

/** Returns whether user and password can be percent-decoded, as both clients do. A `%` of a password has to be `%25`. */
function hasReadableCredentials({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false; // URIError, without a part of the password
  }
}

/** Returns the text of a URL with its hosts. */
export function formatServerUrl({ url, hosts }: ServerUrl): string {
  if (hosts.length === 1) return url.href;
  const { protocol, username, password } = url;
  const credentials = username === "" && password === "" ? "" : `${username}${password && `:${password}`}@`;
  return `${protocol}//${credentials}${hosts.join(",")}${url.pathname}${url.search}`;
}

/** A Redis, and the namespace of an application on it. */
export interface RedisTarget {
  /** `redis://…` or `rediss://…`. It may contain a password: never log it. */
  readonly url: string;
  readonly namespace: string;
}

/**
 * Returns the prefix of all keys and pub/sub channels of a namespace. In a Redis cluster, the braces make it the hash
 * tag: all keys of an application are in one slot, so that a script can use several of them.
 */
export function redisKeyPrefix(namespace: string): string {
  return `tsweb:{${namespace}}:`;
}

/** The member of a bus in Redis that returns its {@link RedisTarget}. Registered, for other copies of this package. */
export const REDIS_TARGET: unique symbol = Symbol.for("tsweb.redisTarget");

/** Returns the Redis of a bus, with which the rate limit shares its connection; `undefined` for any other bus. */
export function redisTargetOf(bus: object): RedisTarget | undefined {
  return REDIS_TARGET in bus ? (bus[REDIS_TARGET] as RedisTarget | undefined) : undefined; // no other code has the member
}
