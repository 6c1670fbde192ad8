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
