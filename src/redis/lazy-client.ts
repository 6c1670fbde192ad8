import type { Redis, RedisOptions } from "ioredis";
import { ConfigError } from "../config/index.ts";
import type { Log } from "../logging/index.ts";
import { backoffMs } from "../reconnect/backoff.ts";
import { loadIoredis } from "./load-ioredis.ts";

/** How long a connection may take to be made. */
const CONNECT_MS = 5_000;

/**
 * How long Redis may owe an answer before the connection counts as dead: a network that swallows
 * packets closes nothing by itself.
 */
const STALL_MS = 5_000;

/** How long Redis has to answer what is in flight when the connection is given up. */
const GOODBYE_MS = 500;

const OPTIONS: RedisOptions = {
  lazyConnect: true,
  connectTimeout: CONNECT_MS,
  socketTimeout: STALL_MS,
  keepAlive: 30_000,
  connectionName: "tsweb",
  disableClientInfo: true, // it reads a file of the package, which a built application does not have
  // While Redis is away commands are refused at once: a queue of them would have no bound, and would
  // be run when nobody waits for them any longer.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (attempt) => backoffMs(attempt),
  // After a fail-over we may still be connected to what was the master.
  reconnectOnError: (error) => error.message.startsWith("READONLY "),
};

/** One connection to one Redis, made at its first use and made again whenever it is lost. */
export class LazyRedisClient {
  /** Where it leads, without the name and password: this goes into logs. */
  readonly address: string;
  readonly #url: string;
  readonly #log: Log;
  #client: Promise<Redis> | undefined;
  #redis: Redis | undefined;
  #isAway = false;
  #isClosed = false;
  #refusal: ConfigError | undefined;

  /** @throws ConfigError for an address whose path is no database's number */
  constructor(url: string, log: Log) {
    const { host, pathname } = new URL(url);
    // The client would ask Redis for a database of no number, and end the process over the answer.
    if (!/^(\/\d{0,5})?$/.test(pathname)) throw unusable("has a path, which is no database's number.");
    this.address = host + (pathname === "/" ? "" : pathname);
    this.#url = url;
    this.#log = log;
  }

  /** Gives the client, once the first attempt to connect has succeeded or failed. */
  client(): Promise<Redis> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  /** Waits for what is in flight, for half a second at most, and disconnects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const redis = this.#redis;
    if (!redis) return;
    if (redis.status === "ready") await goodbye(redis);
    redis.disconnect();
  }

  async #connect(): Promise<Redis> {
    const Client = await loadIoredis();
    if (this.#isClosed) throw new Error(`The connection to Redis at ${this.address} is closed.`);
    const redis = new Client(this.#url, OPTIONS);
    this.#redis = redis;
    redis.on("error", (error: Error) => this.#meet(error));
    redis.on("close", () => this.#tellLoss("The connection was closed."));
    redis.on("ready", () => this.#tellReturn());
    // A failure is told by the event above, and it is tried again.
    await redis.connect().catch(() => undefined);
    if (this.#refusal) throw this.#refusal;
    return redis;
  }

  #meet(error: Error): void {
    this.#tellLoss(describe(error));
    if (!refusesDatabase(error)) return;
    // The client would go on in database 0, among what is another application's.
    this.#refusal = unusable(`names a database that Redis refuses (${error.message}).`);
    this.#redis?.disconnect();
  }

  #tellLoss(reason: string): void {
    if (this.#isAway || this.#isClosed) return;
    this.#isAway = true;
    this.#log.warn({ redis: this.address, reason }, "Redis is away; it is tried until it is back");
  }

  #tellReturn(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#log.info({ redis: this.address }, "Redis is back");
  }
}

/**
 * Says what went wrong, for a log. The error itself must not get there: it carries the command that
 * failed, and of AUTH that is the password.
 */
function describe(error: Error): string {
  const { code } = error as NodeJS.ErrnoException; // where the system refused
  // Of a host with several addresses none of which answered, Node gives an error without a message.
  return error.message || code || error.name;
}

/**
 * Answers whether Redis has refused the database itself, rather than us: a reply's error carries
 * the command that it is to, and begins with its code.
 */
function refusesDatabase(error: Error & { readonly command?: { readonly name?: string } }): boolean {
  return error.command?.name === "select" && /^(ERR|NOPERM) /.test(error.message);
}

function unusable(problem: string): ConfigError {
  const mend = "End it with the number of a database, as redis://host:6379/1, or with nothing for the first.";
  return new ConfigError([{ variable: "WEB_BUS_URL", problem, mend }]);
}

async function goodbye(redis: Redis): Promise<void> {
  const patience = new Promise<void>((resolve) => setTimeout(resolve, GOODBYE_MS).unref());
  // One that is lost in this moment needs no goodbye.
  await Promise.race([redis.quit().catch(() => undefined), patience]);
}
