import { isIP } from "node:net";
import { parseUrl } from "../protocol/index.ts";
import { type BusAddress, hasUnusedPath, parseNamespace, parseServerUrl, splitBusUrl } from "./bus-url.ts";
import { InvalidVariableError, quoteValue } from "./config-error.ts";
import { CREATE_SECRET } from "./secrets.ts";

/** The environment variables of tsweb, all of them: `loadConfig` can read no other. Each is in docs/configuration.md. */
export const VARIABLES = [
  "HOST",
  "PORT",
  "WEB_ACCESS_LOG",
  "WEB_AUTH_SECRET",
  "WEB_AUTH_SECRET_PREVIOUS",
  "WEB_BUS_URL",
  "WEB_COMPRESS",
  "WEB_COOKIE_SECURE",
  "WEB_CSRF_SECRET",
  "WEB_DATA_DIR",
  "WEB_DRAIN_SECONDS",
  "WEB_ENV",
  "WEB_LOG_LEVEL",
  "WEB_MAX_STREAMS_PER_CLIENT",
  "WEB_MAX_UPLOAD_BYTES",
  "WEB_MAX_UPLOAD_BYTES_PER_CLIENT",
  "WEB_METRICS_PATH",
  "WEB_METRICS_PORT",
  "WEB_METRICS_TOKEN",
  "WEB_ORIGIN",
  "WEB_REALM",
  "WEB_SESSION_COOKIE",
  "WEB_STOP_SECONDS",
  "WEB_TRUST_PROXY",
  "WEB_UPLOAD_DIR",
  "WEB_WORKERS",
] as const;

/** The name of an environment variable of tsweb. */
export type Variable = (typeof VARIABLES)[number];

/** Environment variables, in the form of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns whether `WEB_ENV` is production. */
export function parseMode(text: string): boolean {
  if (text === "production") return true;
  if (text === "development") return false;
  throw new InvalidVariableError(
    `is ${quoteValue(text)}, which is not a mode.`,
    'Set it to "production" or "development", or remove it.',
  );
}

/** Returns whether a flag is on. Only `1` and `0` are valid, so that `yes` or `false` cannot be misunderstood. */
export function parseBoolean(text: string): boolean {
  if (text === "1") return true;
  if (text === "0") return false;
  throw new InvalidVariableError(
    `is ${quoteValue(text)}, which is neither 1 nor 0.`,
    "Set it to 1 to turn it on. Set it to 0 or remove it to turn it off.",
  );
}

/** Returns one of a few words. */
export function parseChoice<const T extends string>(text: string, choices: readonly T[]): T {
  const choice = choices.find((word) => word === text);
  if (choice !== undefined) return choice;
  const list = choices.map((word) => `"${word}"`).join(", ");
  throw new InvalidVariableError(`is ${quoteValue(text)}, which is not one of its values.`, `Set it to ${list}.`);
}

/** Returns a decimal integer from `min` to `max`. */
export function parseInteger(text: string, min: number, max: number): number {
  const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new InvalidVariableError(
    `is ${quoteValue(text)}, which is not a whole number from ${min} to ${max}.`,
    `Set it to a whole number from ${min} to ${max}.`,
  );
}

/** Returns the origins of `WEB_ORIGIN`, without duplicates. @see docs/protocol.md 8.2 */
export function parseOrigins(text: string): readonly string[] {
  return [...new Set(text.split(",").map((item) => parseOrigin(item.trim())))];
}

/**
 * Returns an origin as browsers send it in `Origin`. A URL with a path, a query or a wildcard is refused: it could never
 * match. A URL with a user name or password is not shown in the message.
 */
function parseOrigin(text: string): string {
  const url = /^https?:\/\/[^\s\\*]+$/i.test(text) ? parseUrl(text) : null;
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
    CREATE_SECRET,
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
