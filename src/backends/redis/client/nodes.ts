import type { RedisOptions } from "ioredis";
import { ConfigError, type ServerUrl } from "../../../config/index.ts";
import { backoffMs } from "../../../reconnect.ts";

/** The host and port of a server, as ioredis takes them. */
export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/**
 * The servers that a connection can use: the hosts of the URL, and the nodes of their cluster. One of them is the current
 * one.
 */
export class RedisNodes {
  readonly #seeds: readonly RedisNode[];
  #others: readonly RedisNode[];
  #current: RedisNode;

  /** @param hosts at least one host, with its port if that is not 6379 */
  constructor(hosts: readonly string[]) {
    const [first, ...others] = hosts.map(parseHost);
    if (!first) throw new Error("There is no host.");
    this.#seeds = [first, ...others];
    this.#others = others;
    this.#current = first;
  }

  get current(): RedisNode {
    return this.#current;
  }

  /** Makes the next one the current one, because the connection to the current one was lost. */
  rotate(): void {
    const [next, ...others] = this.#others;
    if (!next) return;
    this.#others = [...others, this.#current];
    this.#current = next;
  }

  /**
   * Makes the node the current one that a redirection of a cluster names.
   *
   * @param message the error message of the server: `MOVED <slot> <host>:<port>`, without a host for its own
   * @returns whether it names one
   */
  follow(message: string): boolean {
    const [, host, port] = /^MOVED \d+ (\S*):(\d+)$/.exec(message) ?? [];
    if (port === undefined || host === "?") return false;
    const target = { host: host || this.#current.host, port: Number(port) };
    const all = [this.#current, ...this.#others];
    this.#current = target;
    this.#others = all.filter((node) => !isSame(node, target));
    return true;
  }

  /** Sets the nodes of the cluster, from the reply of `CLUSTER NODES`. The hosts of the URL stay in the list. */
  learn(reply: string): void {
    const nodes = reply.split("\n").flatMap((line) => parseNodeLine(line) ?? []);
    const all = [...nodes, ...this.#seeds].filter((node) => !isSame(node, this.#current));
    this.#others = all.filter((node, index) => all.findIndex((other) => isSame(node, other)) === index);
  }
}

/** Parses a host with an optional port, `[::1]:6379` for example. */
export function parseHost(text: string): RedisNode {
  const [, ipv6, name = "", port = "6379"] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  return { host: ipv6 ?? name, port: Number(port) };
}

/** Parses a line `<id> <ip>:<port>@<bus port>[,<host name>] <flags> …`. */
function parseNodeLine(line: string): RedisNode | undefined {
  const [, ip, port, hostName, flags = ""] = /^\w+ (\S*):(\d+)@\d+(?:,([^,\s]*)\S*)? (\S+)/.exec(line) ?? [];
  if (port === undefined || /noaddr|handshake/.test(flags)) return undefined;
  const host = hostName || ip;
  return host ? { host, port: Number(port) } : undefined;
}

function isSame(a: RedisNode, b: RedisNode): boolean {
  return a.host === b.host && a.port === b.port;
}

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
