/**
 * The namespace of an application on a Redis or NATS server. It is a part of every key, stream, subject and pub/sub
 * channel, so that several applications can share a server. It is not derived from a secret: processes with the old and
 * with the new secret have to reach each other.
 */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { builtName } from "./build-info.ts";
import { formatServerUrl, parseServerUrl, type ServerUrl } from "./bus-url.ts";
import { quoteValue } from "./config-error.ts";
import { projectName } from "./project.ts";

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
