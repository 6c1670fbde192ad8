import type { RedisOptions } from "ioredis";
import { ConfigError, type ServerUrl } from "../../../config/index.ts";
import { backoffMs } from "../../../reconnect.ts";
import { parseHost } from "./nodes.ts";

const SENTINEL_PORT = 26_379;

/** How long a Sentinel may take to reply. */
const SENTINEL_TIMEOUT_MS = 2_000;

/** The parameters of a URL of Sentinels. */
const NAME = "sentinel";
const PASSWORD = "sentinel_password";

/** What Sentinel needs, of a URL. */
export interface SentinelTarget {
  /** The name of the primary. */
  readonly name: string;
  readonly options: RedisOptions;
}

/**
 * Returns the options of ioredis for a URL with the parameter `sentinel`, and removes its parameters from the URL;
 * `undefined` without it.
 *
 * @throws ConfigError if a parameter is empty, or if only the password is set
 */
export function sentinelTarget({ url, hosts }: ServerUrl): SentinelTarget | undefined {
  const name = url.searchParams.get(NAME);
  const password = url.searchParams.get(PASSWORD);
  if (name === null && password === null) return undefined;
  if (!name || password === "") throw new ConfigError([INVALID]);
  url.searchParams.delete(NAME);
  url.searchParams.delete(PASSWORD);
  const withPort = hosts.map((host) => (/(^|\])[^:]*$/.test(host) ? `${host}:${SENTINEL_PORT}` : host));
  return {
    name,
    options: {
      ...{ name, sentinels: withPort.map(parseHost), sentinelCommandTimeout: SENTINEL_TIMEOUT_MS },
      sentinelRetryStrategy: (attempt) => backoffMs(attempt),
      ...(password === null ? {} : { sentinelPassword: password }),
      ...(url.protocol === "rediss:" ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
    },
  };
}

const INVALID = {
  variable: "WEB_BUS_URL",
  problem: "has the parameter sentinel without the name of a primary, or an empty sentinel_password.",
  fix: "End the URL with the name that the Sentinels monitor: redis://s1:26379,s2:26379?sentinel=mymaster",
};

const UNTRUSTED =
  "With rediss://, the Sentinels need TLS too, with certificates that Node trusts: set NODE_EXTRA_CA_CERTS to the file of a " +
  "certificate authority of your own.";

/** Returns why a Sentinel could not be used, with the fix. It contains no password. */
export function describeSentinelError({ message }: Error, { name, options }: SentinelTarget): string {
  if (/invalid reply: null$|No such master/.test(message)) {
    return `The Sentinels know no primary ${JSON.stringify(name)}. Correct ?sentinel= in WEB_BUS_URL.`;
  }
  if (/NOAUTH/.test(message)) {
    return "The Sentinels require a password. Add &sentinel_password= to WEB_BUS_URL.";
  }
  const reason = `No Sentinel is reachable: ${message.replace(/\.$/, "")}.`;
  // The client does not report why a connection with TLS was closed.
  return options.sentinelTLS && /Connection is closed/.test(message) ? `${reason} ${UNTRUSTED}` : reason;
}
