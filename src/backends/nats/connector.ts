import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";
import { ConfigError, type ConfigProblem, parseServerUrl } from "../../config/index.ts";
import type { Logger } from "../../logging/index.ts";
import { backoffMs, ReachabilityLog } from "../../reconnect.ts";
import { errorMessage } from "../bus/index.ts";
import { NatsStream, type NewStreamConfig } from "./stream.ts";

/** A server that is frozen accepts connections, and sends nothing: then the next one is tried. */
const CONNECT_TIMEOUT_MS = 2_000;

/**
 * How long a response may take. A request to the leader of a stream gets none if that server was killed or is frozen, and
 * the election of the next one takes 4 to 9 seconds, so a request has to be sent again several times within the time of a
 * read. A message is sent again less often: until NATS 2.11, a new leader may store one twice that arrives twice at once.
 */
const REQUEST_TIMEOUT_MS = 900;
const PUBLISH_TIMEOUT_MS = 2_000;

/** A stream with 3 copies loses nothing, and goes on, while one server is down. */
const REPLICAS_IN_CLUSTER = 3;

/**
 * How often a connection is checked with PING, and after how many unanswered PINGs it is closed: a server that is frozen is
 * left after 3 s at most, before the cluster has elected another leader.
 */
const PING_INTERVAL_MS = 1_000;
const MAX_UNANSWERED_PINGS = 2;

/** How often the stream is requested again at most because a client has sent a position of another epoch. */
const RECHECK_INTERVAL_MS = 1_000;

/** How often the settings of the stream are checked: an administrator can change them, or create it again, at any time. */
const CHECK_INTERVAL_MS = 5_000;

/**
 * The first version whose servers keep equal copies in a fail-over. Before, a new leader answers before it has processed all
 * that is stored, and a server that was frozen drops messages whose ids it has received.
 *
 * @see https://github.com/nats-io/nats-server/pull/6486
 */
const MIN_CLUSTER_VERSION = [2, 11] as const;

/** The objects and functions of a connection. They are valid until it is lost. */
export interface ConnectionContext {
  readonly connection: NatsConnection;
  readonly jetStream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** How many servers store each message of a stream that is created. */
  readonly replicas: number;
  /** Returns a subject that only this process uses. */
  createInbox(): string;
  /**
   * Settles like the promise, but rejects as soon as the connection is lost. The client itself would wait
   * for a response that the next connection does not deliver.
   */
  untilDisconnect<T>(response: Promise<T>): Promise<T>;
}

/** The objects and functions with which the stream is used. */
export interface JetStreamContext extends ConnectionContext {
  /** The epoch of the stream, for positions. */
  readonly epoch: string;
}

/** What a store in a stream of its own uses of the bus. */
export interface NatsStoreOptions {
  readonly namespace: string;
  /** Runs an operation with the connection. Retries while NATS is unreachable, for up to two seconds. */
  run<T>(operation: (context: ConnectionContext) => Promise<T>): Promise<T>;
}

/** The options of a {@link NatsConnector}. */
export interface NatsConnectorOptions {
  /** The configuration with which the stream is created if it does not exist. */
  readonly stream: NewStreamConfig;
  /** A subject of the stream for messages that nobody reads. */
  readonly markerSubject: string;
  /** For how long the stream must detect a message that is sent again, in nanoseconds. */
  readonly minDuplicateWindowNs?: number;
  /** How many servers store each message of a stream that is created. Default: 3 in a cluster, otherwise 1. */
  readonly replicas: number | undefined;
  readonly log: Logger;
  /** Called before the stream is used, also after each reconnection. If it rejects, the stream is not used. */
  readonly beforeUse: () => Promise<void>;
  /** Called when what was delivered may be incomplete: after a reconnection, and when the stream has another epoch. */
  readonly onReset: () => void;
}

/** One connection to a NATS server. It connects at its first use and reconnects whenever it is lost. */
export class NatsConnector {
  /** The hosts and ports, without user name and password: safe to log. */
  readonly address: string;
  readonly stream: NatsStream;
  readonly #connectionOptions: ConnectionOptions;
  readonly #options: NatsConnectorOptions;
  readonly #reachability: ReachabilityLog;
  #connecting: Promise<ConnectionContext> | undefined;
  #connection: NatsConnection | undefined;
  #epoch: Promise<string> | undefined;
  /** When the stream was last requested, by `performance.now`. */
  #requestedAtMs = Number.NEGATIVE_INFINITY;
  /** The epoch at the last use of the stream. */
  #lastEpoch: string | undefined;
  /** The functions that reject the pending responses. */
  readonly #pendingRejects = new Set<(error: Error) => void>();
  #checkTimer: NodeJS.Timeout | undefined;
  /** The message of the last ConfigError that was logged, so that it is logged once. */
  #loggedProblem: string | undefined;
  #reconnectAttempts = 0;
  #hasWarned = false;
  #isDisconnected = false;
  #isClosed = false;

  /** Whether the server is reachable, as far as this process knows. */
  get isReachable(): boolean {
    return this.#reachability.isReachable;
  }

  /** @param text the URL: `nats://…` or `tls://…` */
  constructor(text: string, options: NatsConnectorOptions) {
    const server = parseServerUrl(text);
    if (!server) throw new TypeError("Invalid URL of NATS."); // it may contain a password
    const { protocol, username, password } = server.url;
    this.address = server.hosts.join(",");
    const servers = server.hosts.map((host) => (/(^|\])[^:]*$/.test(host) ? `${host}:4222` : host));
    this.#connectionOptions = {
      ...{ servers, name: "tsweb", timeout: CONNECT_TIMEOUT_MS, noAsyncTraces: true },
      ...{ pingInterval: PING_INTERVAL_MS, maxPingOut: MAX_UNANSWERED_PINGS },
      ...{ maxReconnectAttempts: -1, ignoreAuthErrorAbort: true },
      reconnectDelayHandler: () => backoffMs(Math.max(1, this.#reconnectAttempts)),
      ...(protocol === "tls:" ? { tls: {} } : {}),
      ...credentials(decodeURIComponent(username), decodeURIComponent(password)),
    };
    this.#options = options;
    const { stream, log } = options;
    this.stream = new NatsStream(stream, { ...options, nats: this.address });
    this.#reachability = new ReachabilityLog({ service: "NATS", fields: { nats: this.address }, log });
  }

  /**
   * Resolves with a context for using the stream. Connects, and creates the stream, if necessary.
   *
   * @throws Error if the server is unreachable; ConfigError if the client packages are not installed, or if the stream
   *   cannot be used
   */
  async context(): Promise<JetStreamContext> {
    const connected = await this.connect();
    this.#epoch ??= this.#findEpoch(connected);
    return { ...connected, epoch: await this.#epoch };
  }

  /**
   * Resolves with the connection, without using the stream. Connects if necessary.
   *
   * @throws Error if the server is unreachable; ConfigError if the client packages are not installed
   */
  async connect(): Promise<ConnectionContext> {
    if (this.#isClosed) throw new Error("The bus is closed.");
    this.#connecting ??= this.#connect();
    const connected = await this.#connecting;
    // While it is disconnected, the client would queue requests without a bound.
    if (this.#isDisconnected) throw this.#unreachableError();
    return connected;
  }

  /**
   * Checks an existing stream, without creating it.
   *
   * @throws Error if the server is unreachable; ConfigError if the stream cannot be used
   */
  async checkStream(): Promise<void> {
    const { manager } = await this.connect();
    await this.#untilDisconnect(this.stream.check(manager));
  }

  /** Returns why a cluster should not be used in production, if that is so. */
  async clusterProblems(): Promise<readonly ConfigProblem[]> {
    return clusterProblems((await this.connect()).connection, this.address);
  }

  /**
   * Checks that nothing was lost by a stream that was created again, or got other settings, until now.
   *
   * @throws ConfigError if the stream cannot be used; Error if it has another epoch
   */
  async verify(context: JetStreamContext): Promise<void> {
    try {
      if (await this.stream.isUnchanged(context)) return;
    } catch (error) {
      if (error instanceof ConfigError) this.invalidateStream();
      throw error;
    }
    this.invalidateStream();
    throw new Error("The stream of NATS was created again, or set back.");
  }

  /** Makes the next {@link context} request the stream again: it may have been deleted. */
  invalidateStream(): void {
    this.#epoch = undefined;
  }

  /**
   * As {@link invalidateStream}, but at most once a second. Clients choose the epochs of their cursors: without a limit,
   * each cursor would cost several requests, writes of fingerprints included, and delay what needs the stream meanwhile.
   */
  recheckStream(): void {
    if (performance.now() - this.#requestedAtMs >= RECHECK_INTERVAL_MS) this.invalidateStream();
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#checkTimer);
    this.#reachability.close();
    await this.#connection?.close();
  }

  #untilDisconnect<T>(response: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#pendingRejects.add(reject);
      response.finally(() => this.#pendingRejects.delete(reject)).then(resolve, reject);
    });
  }

  #unreachableError(): Error {
    return new Error(`NATS at ${this.address} is unreachable.`);
  }

  async #connect(): Promise<ConnectionContext> {
    try {
      const { connect, createInbox, jetstream, jetstreamManager } = await loadNatsPackages();
      const connection = await connect(this.#connectionOptions);
      if (this.#isClosed) {
        await connection.close();
        throw new Error("The bus is closed.");
      }
      this.#connection = connection;
      void this.#handleStatus(connection);
      this.#reachability.reachable();
      this.#warn(connection);
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: REQUEST_TIMEOUT_MS });
      const jetStream = jetstream(connection, { checkAPI: false, timeout: PUBLISH_TIMEOUT_MS });
      return {
        ...{ connection, manager, jetStream, createInbox: () => createInbox() },
        replicas: this.#options.replicas ?? (connection.info?.cluster ? REPLICAS_IN_CLUSTER : 1),
        untilDisconnect: (response) => this.#untilDisconnect(response),
      };
    } catch (error) {
      this.#connecting = undefined;
      if (!(error instanceof ConfigError)) this.#reachability.unreachable(errorMessage(error));
      throw error;
    }
  }

  /** Logs once why a cluster should not be used in production. */
  #warn(connection: NatsConnection): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    for (const { problem, fix } of clusterProblems(connection, this.address))
      this.#options.log.warn({ nats: this.address, fix }, `The bus ${problem}`);
  }

  /** Handles the status events of a connection until it is closed. Never rejects. */
  async #handleStatus(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === "disconnect") {
        this.#isDisconnected = true;
        this.#reconnectAttempts = 0;
        this.#epoch = undefined;
        for (const reject of this.#pendingRejects) reject(this.#unreachableError());
        this.#reachability.unreachable("The connection was closed.");
      } else if (type === "reconnecting") {
        this.#reconnectAttempts++;
      } else if (type === "reconnect") {
        this.#isDisconnected = false;
        this.#reachability.reachable();
        this.#options.onReset();
      }
    }
    // The client has stopped reconnecting: the next operation creates a new connection.
    this.#isDisconnected = false;
    this.#connecting = undefined;
    this.#epoch = undefined;
  }

  /** Checks the stream while nothing reads it. Never rejects. */
  async #check(): Promise<void> {
    try {
      const context = await this.context();
      await context.untilDisconnect(this.verify(context));
    } catch (error) {
      // Unreachable servers are logged by the connection. A stream that has changed is requested again by the next operation.
      if (!(error instanceof ConfigError) || error.message === this.#loggedProblem) return;
      this.#loggedProblem = error.message;
      this.#options.log.error({ nats: this.address }, error.message);
    }
  }

  async #findEpoch(connected: ConnectionContext): Promise<string> {
    this.#requestedAtMs = performance.now();
    try {
      await this.#options.beforeUse();
      const epoch = await this.#untilDisconnect(this.stream.open(connected));
      this.#loggedProblem = undefined;
      if (!this.#isClosed) this.#checkTimer ??= setInterval(() => void this.#check(), CHECK_INTERVAL_MS).unref();
      const isOther = this.#lastEpoch !== undefined && this.#lastEpoch !== epoch;
      this.#lastEpoch = epoch;
      if (isOther) this.#options.onReset();
      return epoch;
    } catch (error) {
      this.#epoch = undefined;
      throw error;
    }
  }
}

/** Returns whether the servers of a cluster keep equal copies of a stream; true for a version that is not known. */
export function keepsEqualCopies(info: NatsConnection["info"]): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(info?.version ?? "") ?? [];
  const [minMajor, minMinor] = MIN_CLUSTER_VERSION;
  return major === undefined || Number(major) > minMajor || (Number(major) === minMajor && Number(minor) >= minMinor);
}

function clusterProblems({ info }: NatsConnection, address: string): readonly ConfigProblem[] {
  if (!info?.cluster || keepsEqualCopies(info)) return [];
  return [
    {
      variable: "WEB_BUS_URL",
      problem:
        `is a NATS cluster of version ${info.version}, at ${address}. After a fail-over, its servers may have different copies ` +
        "of the messages, so that some are lost, also confirmed ones.",
      fix: `Upgrade its servers to NATS ${MIN_CLUSTER_VERSION.join(".")} or later.`,
    },
  ];
}

/** Returns the credentials of a URL. A user name without a password is a token. */
function credentials(user: string, pass: string): ConnectionOptions {
  if (user === "") return {};
  return pass === "" ? { token: user } : { user, pass };
}

/** The functions that are used of the NATS client packages. */
interface NatsPackages {
  readonly connect: typeof import("@nats-io/transport-node")["connect"];
  readonly createInbox: typeof import("@nats-io/transport-node")["createInbox"];
  readonly jetstream: typeof import("@nats-io/jetstream")["jetstream"];
  readonly jetstreamManager: typeof import("@nats-io/jetstream")["jetstreamManager"];
}

/**
 * Loads the NATS client packages, optional peer dependencies: only applications that use NATS install them.
 *
 * @throws ConfigError with the install command if they cannot be loaded
 */
async function loadNatsPackages(): Promise<NatsPackages> {
  try {
    const [{ connect, createInbox }, { jetstream, jetstreamManager }] = await Promise.all([
      import("@nats-io/transport-node"),
      import("@nats-io/jetstream"),
    ]);
    return { connect, createInbox, jetstream, jetstreamManager };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ConfigError([
      {
        variable: "WEB_BUS_URL",
        problem: `names a NATS server, but the NATS client packages could not be loaded (${reason}).`,
        fix: "Install them in the application, then build the application again: npm install @nats-io/transport-node @nats-io/jetstream",
      },
    ]);
  }
}
