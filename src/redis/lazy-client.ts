import type { Redis, RedisOptions } from "ioredis";
import { ConfigError } from "../config/index.ts";
import type { Logger } from "../logging/index.ts";
import { backoffMs, ReachabilityLog } from "../reconnect/index.ts";
import { loadIoredis } from "./load-ioredis.ts";

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * How long a reply of Redis may take before the connection counts as dead. A network that drops packets does
 * not close the connection by itself.
 */
const SOCKET_TIMEOUT_MS = 5_000;

/** How long `close` waits for the replies of commands in flight. */
const QUIT_TIMEOUT_MS = 500;

const OPTIONS: RedisOptions = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: SOCKET_TIMEOUT_MS,
  keepAlive: 30_000,
  connectionName: "tsweb",
  disableClientInfo: true, // it reads a file of the ioredis package, which a bundled application does not have
  // While Redis is unreachable, commands are rejected at once. A queue of them would be unbounded, and its
  // commands would run after their callers have stopped waiting.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (attempt) => backoffMs(attempt),
  // After a fail-over the connection may still lead to the former master, which is a replica now.
  reconnectOnError: (error) => error.message.startsWith("READONLY "),
};

/** One connection to one Redis. It connects at its first use and reconnects whenever it is lost. */
export class LazyRedisClient {
  /** The host, port and database, without user name and password: safe to log. */
  readonly address: string;
  readonly #url: string;
  readonly #reachability: ReachabilityLog;
  #connecting: Promise<Redis> | undefined;
  #redis: Redis | undefined;
  #isClosed = false;
  #databaseError: ConfigError | undefined;
  #generation = 0;
  #refusal: string | undefined;

  /** How often the connection has been established. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether Redis is reachable, as far as this process knows. */
  get isReachable(): boolean {
    return this.#reachability.isReachable;
  }

  /** @throws ConfigError if the path of the URL is not a database number */
  constructor(url: string, log: Logger) {
    const { host, pathname } = new URL(url);
    // ioredis would select the database NaN, and its unhandled rejection would end the process. The message
    // does not repeat the path: in a mistyped URL it may contain the password.
    if (!/^(\/\d{0,5})?$/.test(pathname)) throw databaseError("has a path that is not a database number.");
    this.address = host + (pathname === "/" ? "" : pathname);
    this.#url = url;
    this.#reachability = new ReachabilityLog({ service: "Redis", fields: { redis: this.address }, log });
  }

  /**
   * Returns the client, after the first attempt to connect has succeeded or failed.
   *
   * @throws ConfigError if ioredis is not installed, or if Redis refuses the database number
   */
  get(): Promise<Redis> {
    this.#connecting ??= this.#connect();
    return this.#connecting;
  }

  /** Returns the error of an operation while there is no connection. */
  unreachableError(): Error {
    return new Error(this.#refusal ?? `Redis at ${this.address} is unreachable.`);
  }

  /** Connects again, because this server cannot be used now. The reason is that of errors until {@link accept}. */
  refuse(reason: string): Error {
    this.#refusal = reason;
    this.#reachability.unreachable(reason);
    this.#redis?.disconnect(true);
    return this.unreachableError();
  }

  /** Records that the server can be used. */
  accept(): void {
    this.#refusal = undefined;
    this.#reachability.reachable();
  }

  /** Waits up to half a second for the commands in flight, then disconnects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#reachability.close();
    const redis = this.#redis;
    if (!redis) return;
    if (redis.status === "ready") await quit(redis);
    redis.disconnect();
  }

  async #connect(): Promise<Redis> {
    const Client = await loadIoredis();
    if (this.#isClosed) throw new Error(`The connection to Redis at ${this.address} is closed.`);
    const redis = new Client(this.#url, OPTIONS);
    this.#redis = redis;
    redis.on("error", (error: Error) => this.#handleError(error));
    redis.on("close", () => this.#reachability.unreachable("The connection was closed."));
    // Before "ready", so that no command is sent over a connection that is not counted yet.
    redis.on("connect", () => this.#generation++);
    // One that was refused is reachable again when it is accepted.
    redis.on("ready", () => this.#refusal === undefined && this.#reachability.reachable());
    // The listener for errors logs a failure, and the client connects again.
    await redis.connect().catch(() => undefined);
    if (this.#databaseError) throw this.#databaseError;
    return redis;
  }

  #handleError(error: Error): void {
    this.#refusal = undefined;
    this.#reachability.unreachable(describeError(error));
    if (!isDatabaseRefused(error)) return;
    // ioredis would continue with database 0, which may contain the data of another application.
    this.#databaseError = databaseError(`names a database that Redis refuses (${error.message}).`);
    this.#redis?.disconnect();
  }
}

/**
 * Returns the reason of a failure for the log. The error object itself must not be logged: it contains the
 * command that failed, and the arguments of AUTH are the password.
 */
function describeError(error: Error): string {
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

async function quit(redis: Redis): Promise<void> {
  const timeout = new Promise<void>((resolve) => setTimeout(resolve, QUIT_TIMEOUT_MS).unref());
  // If the connection is lost at this moment, there is nothing left to wait for.
  await Promise.race([redis.quit().catch(() => undefined), timeout]);
}
