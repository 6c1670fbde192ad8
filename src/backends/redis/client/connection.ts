import type { Redis, RedisOptions } from "ioredis";
import { ConfigError, parseServerUrl } from "../../../config/index.ts";
import type { Logger } from "../../../logging/index.ts";
import { backoffMs, ReachabilityLog } from "../../../reconnect.ts";
import { describeSentinelError, type RedisNode, RedisNodes, type SentinelTarget, sentinelTarget } from "./nodes.ts";

const CONNECT_TIMEOUT_MS = 3_000;

/** How long `close` waits for the replies of commands in flight. */
const QUIT_TIMEOUT_MS = 500;

const OPTIONS: RedisOptions = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  keepAlive: 30_000,
  connectionName: "tsweb",
  disableClientInfo: true, // it reads a file of the ioredis package, which a bundled application does not have
  // While Redis is unreachable, commands are rejected at once. A queue of them would be unbounded, and its
  // commands would run after their callers have stopped waiting.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  // After a fail-over the connection may still lead to the former master, which is a replica now.
  reconnectOnError: (error) => error.message.startsWith("READONLY "),
};

/**
 * One connection to one Redis: the one of the URL, the primary that Sentinels name, or the node of a cluster that serves
 * a key. It connects at its first use, and reconnects whenever it is lost.
 */
export class RedisConnection {
  /** The hosts, ports and database, without user name and password: safe to log. */
  readonly address: string;
  readonly #url: string;
  readonly #nodes: RedisNodes;
  readonly #sentinel: SentinelTarget | undefined;
  readonly #reachability: ReachabilityLog;
  #connecting: Promise<Redis> | undefined;
  #redis: Redis | undefined;
  #stopReplyTimeout: (() => void) | undefined;
  #isClosed = false;
  #databaseError: ConfigError | undefined;
  #generation = 0;
  /** Why the last server was not used. */
  #refusal: string | undefined;
  /** Whether a connection counts as usable only when {@link accept} is called. */
  #isUnaccepted = false;
  #isRedirected = false;

  /** How often the connection has been established. After a reconnection, the server may have lost its data. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether Redis is reachable, as far as this process knows. */
  get isReachable(): boolean {
    return this.#reachability.isReachable;
  }

  /** @throws ConfigError if the path of the URL is not a database number, or if a parameter is not valid */
  constructor(text: string, log: Logger) {
    const server = parseServerUrl(text);
    if (!server) throw new TypeError("Invalid URL of Redis."); // it may contain a password
    const { url, hosts } = server;
    // ioredis would select the database NaN, and its unhandled rejection would end the process. The message
    // does not repeat the path: in a mistyped URL it may contain the password.
    if (!/^(\/\d{0,5})?$/.test(url.pathname)) throw databaseError("has a path that is not a database number.");
    this.address = hosts.join(",") + (url.pathname === "/" ? "" : url.pathname);
    this.#sentinel = sentinelTarget(server);
    this.#nodes = new RedisNodes(hosts);
    this.#url = url.href;
    this.#reachability = new ReachabilityLog({ service: "Redis", fields: { redis: this.address }, log });
  }

  /** The server that this connection uses, or tries to connect to next; with Sentinel, it has no meaning. */
  get node(): RedisNode {
    return this.#nodes.current;
  }

  /**
   * Returns the client. The first call of any part connects; it resolves when that attempt has succeeded or failed.
   *
   * While Redis is unreachable, the client rejects every command at once, and the commands that were in flight when the
   * connection was lost. Redis may still have run those. The client reconnects by itself.
   *
   * @throws ConfigError if ioredis is not installed, or if Redis refuses the database number
   */
  client(): Promise<Redis> {
    this.#connecting ??= this.#connect();
    return this.#connecting;
  }

  /** Returns the error of an operation while there is no connection: that it is unreachable, or why it is not used. */
  unreachableError(): Error {
    return new Error(this.#refusal ?? `Redis at ${this.address} is unreachable.`);
  }

  /**
   * Connects again, because this server cannot be used now. The reason is logged, and is that of errors until
   * {@link accept} is called.
   *
   * @param reason a sentence
   * @returns the error to throw
   */
  refuse(reason: string): Error {
    this.#refusal = reason;
    this.#isUnaccepted = true;
    this.#reachability.unreachable(reason);
    this.#redis?.disconnect(true);
    return this.unreachableError();
  }

  /** Records that the server can be used. */
  accept(): void {
    this.#refusal = undefined;
    this.#isUnaccepted = false;
    this.#reachability.reachable();
  }

  /**
   * Connects to the node of a cluster that a redirection names.
   *
   * @param message the error of the server: `MOVED …`
   * @returns the error to throw
   */
  follow(message: string): Error {
    this.#isRedirected = this.#nodes.follow(message);
    return this.refuse(`The node of the Redis cluster at ${this.address} that serves the keys is not connected yet.`);
  }

  /**
   * Checks whether this node of a cluster serves a key, and reads the other nodes, so that one of them can be used when
   * this one is unreachable.
   *
   * @throws Error if another node serves it: it is connected to
   */
  async locate(key: string): Promise<void> {
    const redis = await this.client();
    try {
      await redis.exists(key);
    } catch (error) {
      throw isMoved(error) ? this.follow(error.message) : commandError(error, this.address);
    }
    // Without the permission for the command, the hosts of the URL are used.
    this.#nodes.learn(String(await redis.cluster("NODES").catch(() => "")));
  }

  /** Waits up to half a second for the commands in flight, then disconnects: for all parts that share the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#reachability.close();
    const redis = this.#redis;
    if (!redis) return;
    if (redis.status === "ready") await quit(redis);
    redis.disconnect();
    this.#stopReplyTimeout?.();
  }

  async #connect(): Promise<Redis> {
    const Client = await loadIoredis();
    if (this.#isClosed) throw new Error(`The connection to Redis at ${this.address} is closed.`);
    const retryStrategy = (attempt: number) => this.#chooseNode(attempt);
    const redis = new Client(this.#url, { ...OPTIONS, retryStrategy, ...this.#sentinel?.options });
    this.#redis = redis;
    this.#stopReplyTimeout = closeWhenSilent(redis);
    redis.on("error", (error: Error) => this.#handleError(error));
    redis.on("sentinelError", (error: Error) => this.#handleSentinelError(error));
    redis.on("close", () => this.#reachability.unreachable("The connection was closed."));
    // Before "ready", so that no command is sent over a connection that is not counted yet.
    redis.on("connect", () => this.#generation++);
    redis.on("ready", () => this.#handleReady());
    // The listener for errors logs a failure, and the client connects again. With Sentinel, it does not reject.
    const failed = new Promise<void>((resolve) => redis.once("error", () => resolve()));
    await Promise.race([redis.connect().catch(() => undefined), failed]);
    if (this.#databaseError) throw this.#databaseError;
    return redis;
  }

  /** Sets the server to connect to after the connection was lost. Returns when to connect, in milliseconds. */
  #chooseNode(attempt: number): number {
    if (!this.#isRedirected) this.#nodes.rotate();
    this.#isRedirected = false;
    if (this.#redis && !this.#sentinel) Object.assign(this.#redis.options, this.#nodes.current);
    return backoffMs(attempt);
  }

  #handleReady(): void {
    if (this.#sentinel) this.#refusal = undefined;
    if (!this.#isUnaccepted) this.#reachability.reachable();
  }

  #handleSentinelError(error: Error): void {
    if (this.#sentinel) this.#refusal = describeSentinelError(error, this.#sentinel);
    this.#reachability.unreachable(this.#refusal ?? error.message);
  }

  #handleError(error: Error): void {
    if (!this.#sentinel) this.#refusal = undefined;
    this.#reachability.unreachable(describeError(error));
    if (!isDatabaseRefused(error)) return;
    // ioredis would continue with database 0, which may contain the data of another application.
    this.#databaseError = databaseError(`names a database that Redis refuses (${error.message}).`);
    this.#redis?.disconnect();
  }
}

/** A reference to a connection to Redis, which several parts of the process can share. */
export interface OpenedConnection {
  readonly connection: RedisConnection;
  /** Releases the reference. Releasing the last one closes the connection, within half a second. */
  close(): Promise<void>;
}

/**
 * The connections of this process by their complete URL and their prefix of keys, with the number of open references. The state
 * is global because the rate limit and the bus of all applications in the process share a connection.
 */
const sharedConnections = new Map<string, { readonly connection: RedisConnection; references: number }>();

/**
 * Returns a reference to this process's connection to a Redis: one connection for each URL and prefix of keys, since the
 * nodes of a cluster serve different keys.
 *
 * The connection logs to the `log` of the first caller: one line when Redis becomes unreachable and one
 * when it is reachable again. No line contains the user name or the password.
 *
 * @param url `redis://…` or `rediss://…`
 * @param keyPrefix the prefix of all keys, which contains their hash tag
 * @throws ConfigError if the path of the URL is not a database number
 */
export function openRedisConnection(url: string, log: Logger, keyPrefix = ""): OpenedConnection {
  const id = `${keyPrefix} ${url}`;
  const shared = sharedConnections.get(id) ?? { connection: new RedisConnection(url, log), references: 0 };
  sharedConnections.set(id, shared);
  shared.references++;
  let isOpen = true;
  return {
    connection: shared.connection,
    async close() {
      if (!isOpen) return;
      isOpen = false;
      shared.references--;
      if (shared.references > 0) return;
      sharedConnections.delete(id);
      await shared.connection.close();
    },
  };
}

/**
 * Returns the reason of a failure for the log. The error object itself must not be logged: it contains the
 * command that failed, and the arguments of AUTH are the password.
 */
function describeError(error: Error): string {
  if (isConnectionLost(error)) return "The connection was lost.";
  const { code } = error as NodeJS.ErrnoException; // `code` is read as undefined from any other error
  // If no address of a host answers, Node reports an AggregateError with an empty message.
  return error.message || code || error.name;
}

/**
 * Returns whether Redis has refused the database number. The error of a reply names its command, and its
 * message starts with the error code.
 */
function isDatabaseRefused(error: Error & { readonly command?: { readonly name?: string } }): boolean {
  return error.command?.name === "select" && /^(ERR|NOPERM) /.test(error.message);
}

function databaseError(problem: string): ConfigError {
  const fix = "End the URL with a database number, as in redis://host:6379/1, or omit the path to use database 0.";
  return new ConfigError([{ variable: "WEB_BUS_URL", problem, fix }]);
}

/** Returns whether the node of a Redis cluster replied that another one serves the slot of the keys. */
export function isMoved(error: unknown): error is Error {
  return error instanceof Error && /^MOVED /.test(error.message);
}

async function quit(redis: Redis): Promise<void> {
  const timeout = new Promise<void>((resolve) => setTimeout(resolve, QUIT_TIMEOUT_MS).unref());
  // If the connection is lost at this moment, there is nothing left to wait for.
  await Promise.race([redis.quit().catch(() => undefined), timeout]);
}

/**
 * Loads ioredis, an optional peer dependency: only applications that use Redis install it.
 *
 * @throws ConfigError with the install command if ioredis cannot be loaded
 */
async function loadIoredis(): Promise<typeof Redis> {
  try {
    return (await import("ioredis")).Redis;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ConfigError([
      {
        variable: "WEB_BUS_URL",
        problem: `names a Redis, but the package ioredis could not be loaded (${reason}).`,
        fix: "Install it in the application, then build the application again: npm install ioredis",
      },
    ]);
  }
}

/**
 * Returns whether Redis has replied with an error, such as `OOM` or `NOPERM`: it is reachable, and has refused the command.
 * The name is that of the classes of ioredis.
 */
export function isReplyError(error: unknown): error is Error {
  return error instanceof Error && error.name === "ReplyError";
}

/** What ioredis says of a connection that is lost. Its errors have no code, and the texts are about its own options. */
const LOST = ["Stream isn't writeable and enableOfflineQueue options is false", "Connection is closed."];

/** Returns whether ioredis has not sent a command, because the connection is lost. */
function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && LOST.some((text) => error.message.endsWith(text)); // after "Ready check failed: "
}

/**
 * Returns an error with the reason for which a command has failed. When the connection is lost, ioredis rejects the commands
 * in flight, and those that follow before it has noticed, with errors about its own options.
 *
 * @param address the server, without user name and password
 */
export function commandError(error: unknown, address: string): unknown {
  if (isConnectionLost(error)) return new Error(`The connection to Redis at ${address} was lost.`);
  if (!(error instanceof Error && error.name === "MaxRetriesPerRequestError")) return error;
  return new Error(`The connection to Redis at ${address} was closed before it replied.`);
}

/** How long a reply may take before the connection counts as dead. */
const TIMEOUT_MS = 3_000;

/** How long the first reply of a connection may take: the system accepts connections to a server that is frozen. */
const FIRST_TIMEOUT_MS = 1_500;

/** How often the connection is checked. */
const CHECK_INTERVAL_MS = 250;

/** What is used of a client of ioredis. */
export interface RepliedClient {
  /** The current connection; `undefined` before the first one. */
  readonly stream: { readonly bytesRead: number; destroy(error: Error): unknown } | undefined;
  /** The commands without a reply. */
  readonly commandQueue: { readonly length: number };
}

/**
 * Closes each connection of a client over which nothing is received for 3 to 3.25 seconds while replies are missing, and
 * one over which nothing was received yet after 1.5 to 1.75 seconds. Neither a network that drops packets nor a server that
 * is frozen closes a connection. The client then connects again: to the next primary, within the 10 seconds of `publish`.
 *
 * The option `socketTimeout` of ioredis is not used: its timer outlives the connection that it was started for, and
 * closes the next one. Intervals are counted instead of time, so that a process that was itself blocked, and has not
 * read the replies yet, closes nothing.
 *
 * @returns a function that stops the checks
 */
export function closeWhenSilent(redis: RepliedClient): () => void {
  let stream: RepliedClient["stream"];
  let bytesRead = 0;
  let wasWaiting = false;
  let silentIntervals = 0;
  const check = () => {
    const isUnchanged = redis.stream === stream && stream?.bytesRead === bytesRead;
    // A reply must have been missing for the whole interval.
    silentIntervals = wasWaiting && isUnchanged ? silentIntervals + 1 : 0;
    wasWaiting = redis.commandQueue.length > 0;
    stream = redis.stream;
    bytesRead = stream?.bytesRead ?? 0;
    const timeoutMs = bytesRead === 0 ? FIRST_TIMEOUT_MS : TIMEOUT_MS;
    if (silentIntervals < timeoutMs / CHECK_INTERVAL_MS) return;
    silentIntervals = 0;
    stream?.destroy(new Error(`Redis has sent no reply for ${timeoutMs / 1000} seconds.`));
  };
  const timer = setInterval(check, CHECK_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
