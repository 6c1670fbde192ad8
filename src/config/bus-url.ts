import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { parseUrl } from "../protocol/index.ts";
import { builtName } from "./build-info.ts";
import { quoteValue } from "./config-error.ts";
import { projectName } from "./project.ts";

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
  const urls = hosts.map((host) => parseUrl(start + host + rest));
  if (urls.some((url) => url === null || url.hostname === "")) return undefined;
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

// The namespace of an application on a Redis or NATS server. It is a part of every key, stream, subject and pub/sub
// channel, so that several applications can share a server. It is not derived from a secret: processes with the old and
// with the new secret have to reach each other.

const MAX_LENGTH = 64;

/** How many hexadecimal digits replace the end of a name that is too long. */
const HASH_LENGTH = 12;

const EXAMPLES = { redis: "redis://host:6379", nats: "nats://host:4222" } as const;

/** The namespace of an application without a name. */
const UNNAMED = "tsweb";

/** The URL of a bus, and the namespace that it contains. */
export interface BusAddress {
  /** The URL without the parameter `namespace`. It may contain a password: never log it. */
  readonly url: string;
  /** `undefined` if the URL contains none. */
  readonly namespace: string | undefined;
}

/** Returns the namespace of this application: the `name` in its package.json, in the characters of a namespace. */
export function defaultNamespace(folder: string = process.cwd()): string {
  return namespaceOf(builtName ?? projectName(resolve(folder)));
}

/**
 * Returns a package name in the characters of a namespace: `@acme/shop` becomes `acme__shop`. The end of a name with
 * more than 64 characters is replaced by a hash.
 */
export function namespaceOf(name: string | undefined): string {
  if (!name) return UNNAMED;
  const text = name
    .replace(/^@/, "")
    .replace("/", "__")
    .replace(/[^\w-]/g, "_");
  if (text.length <= MAX_LENGTH) return text === "" ? UNNAMED : text;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_LENGTH);
  return `${text.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}-${hash}`;
}

/** Returns the namespace if it is valid: 1 to 64 letters, digits, `-` and `_`; otherwise `undefined`. */
export function parseNamespace(text: string): string | undefined {
  return /^[\w-]{1,64}$/.test(text) ? text : undefined;
}

/** Returns whether a URL of NATS has a path. It has no meaning, so it would not separate applications. */
export function hasUnusedPath({ url: { protocol, pathname } }: ServerUrl): boolean {
  return /^(nats|tls):$/.test(protocol) && !/^\/?$/.test(pathname);
}

/** Splits the parameter `namespace` off the URL of a bus. */
export function splitBusUrl(server: ServerUrl): BusAddress {
  const url = new URL(server.url);
  const namespace = url.searchParams.get("namespace") ?? undefined;
  url.searchParams.delete("namespace");
  return { url: formatServerUrl({ url, hosts: server.hosts }), namespace };
}

/**
 * Returns the address and the namespace that the options of `redis(…)` or `nats(…)` mean.
 *
 * @param caller the function, for the message
 * @throws TypeError if the URL or the namespace is not valid
 */
export function resolveBusOptions(
  options: { readonly url: string; readonly namespace?: string | undefined },
  caller: keyof typeof EXAMPLES,
): { readonly url: string; readonly namespace: string } {
  const server = parseServerUrl(options.url);
  // The value is not shown, since it may contain a password.
  if (!server) {
    throw new TypeError(
      `The URL in ${caller}(…) is not valid. Use ${caller}("${EXAMPLES[caller]}"). Encode a user name and a password with ` +
        "encodeURIComponent.",
    );
  }
  const address = splitBusUrl(server);
  if (hasUnusedPath(server)) {
    throw new TypeError(
      `The URL in ${caller}(…) has a path, which NATS does not have. To separate applications, use a namespace: ` +
        `${caller}({ url, namespace: "shop" }).`,
    );
  }
  const namespace = options.namespace ?? address.namespace ?? defaultNamespace();
  if (parseNamespace(namespace) !== undefined) return { url: address.url, namespace };
  throw new TypeError(
    `Invalid namespace ${quoteValue(namespace)} in ${caller}(…). Use 1 to ${MAX_LENGTH} letters, digits, - and _.`,
  );
}
