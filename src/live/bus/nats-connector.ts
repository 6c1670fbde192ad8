import type { JetStreamClient, JetStreamManager, StreamConfig } from "@nats-io/jetstream";
import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";
import { ConfigError } from "../../config/index.ts";
import type { Logger } from "../../logging/index.ts";
import { backoffMs, ReachabilityLog } from "../../reconnect/index.ts";
import { errorMessage } from "./error-message.ts";
import { loadNatsPackages } from "./load-nats.ts";
import { epochFromCreated } from "./nats-position.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 5_000;

/** How often an idle connection is checked with PING, and after how many unanswered PINGs it is closed. */
const PING_INTERVAL_MS = 3_000;
const MAX_UNANSWERED_PINGS = 2;

/** The objects and functions with which the stream is used. They are valid until the connection is lost. */
export interface JetStreamContext {
  readonly connection: NatsConnection;
  readonly jetStream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** The epoch of the stream, for positions. */
  readonly epoch: string;
  /** Returns a subject that only this process uses. */
  createInbox(): string;
  /**
   * Settles like the promise, but rejects as soon as the connection is lost. The client itself would wait
   * for a response that the next connection does not deliver.
   */
  untilDisconnect<T>(response: Promise<T>): Promise<T>;
}

/** The parts of a {@link JetStreamContext} that do not depend on the stream. */
type ConnectionContext = Omit<JetStreamContext, "epoch" | "untilDisconnect">;

type NamedStreamConfig = Pick<StreamConfig, "name"> & Partial<StreamConfig>;

/** The options of a {@link NatsConnector}. */
export interface NatsConnectorOptions {
  /** The configuration with which the stream is created if it does not exist. */
  readonly stream: NamedStreamConfig;
  readonly log: Logger;
  /** Called when a lost connection has been established again. */
  readonly onReconnect: () => void;
}

/** One connection to a NATS server. It connects at its first use and reconnects whenever it is lost. */
export class NatsConnector {
  /** The host and port, without user name and password: safe to log. */
  readonly address: string;
  readonly #connectionOptions: ConnectionOptions;
  readonly #stream: NamedStreamConfig;
  readonly #reachability: ReachabilityLog;
  readonly #onReconnect: () => void;
  #connecting: Promise<ConnectionContext> | undefined;
  #connection: NatsConnection | undefined;
  #epoch: Promise<string> | undefined;
  /** The functions that reject the pending responses. */
  readonly #pendingRejects = new Set<(error: Error) => void>();
  #reconnectAttempts = 0;
  #isDisconnected = false;
  #isClosed = false;

  /** @param url `nats://…` or `tls://…` */
  constructor(url: string, { stream, log, onReconnect }: NatsConnectorOptions) {
    const { host, hostname, port, protocol, username, password } = new URL(url);
    this.address = host;
    this.#connectionOptions = {
      ...{ servers: `${hostname}:${port || 4222}`, name: "tsweb", timeout: CONNECT_TIMEOUT_MS, noAsyncTraces: true },
      ...{ pingInterval: PING_INTERVAL_MS, maxPingOut: MAX_UNANSWERED_PINGS },
      ...{ maxReconnectAttempts: -1, ignoreAuthErrorAbort: true },
      reconnectDelayHandler: () => backoffMs(Math.max(1, this.#reconnectAttempts)),
      ...(protocol === "tls:" ? { tls: {} } : {}),
      ...credentials(decodeURIComponent(username), decodeURIComponent(password)),
    };
    this.#stream = stream;
    this.#reachability = new ReachabilityLog({ service: "NATS", fields: { nats: this.address }, log });
    this.#onReconnect = onReconnect;
  }

  /**
   * Resolves with a context for using the stream. Connects, and creates the stream, if necessary.
   *
   * @throws Error if the server is unreachable; ConfigError if the client packages are not installed
   */
  async context(): Promise<JetStreamContext> {
    if (this.#isClosed) throw new Error("The bus is closed.");
    this.#connecting ??= this.#connect();
    const connected = await this.#connecting;
    // While it is disconnected, the client would queue requests without a bound.
    if (this.#isDisconnected) throw this.#unreachableError();
    this.#epoch ??= this.#findEpoch(connected.manager);
    const epoch = await this.#epoch;
    return { ...connected, epoch, untilDisconnect: (response) => this.#untilDisconnect(response) };
  }

  /** Makes the next {@link context} request the stream again: it may have been deleted. */
  invalidateStream(): void {
    this.#epoch = undefined;
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
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
      const options = { checkAPI: false, timeout: REQUEST_TIMEOUT_MS };
      const manager = await jetstreamManager(connection, options);
      return { connection, manager, jetStream: jetstream(connection, options), createInbox: () => createInbox() };
    } catch (error) {
      this.#connecting = undefined;
      if (!(error instanceof ConfigError)) this.#reachability.unreachable(errorMessage(error));
      throw error;
    }
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
        this.#onReconnect();
      }
    }
    // The client has stopped reconnecting: the next operation creates a new connection.
    this.#isDisconnected = false;
    this.#connecting = undefined;
    this.#epoch = undefined;
  }

  async #findEpoch(manager: JetStreamManager): Promise<string> {
    try {
      return epochFromCreated((await this.#untilDisconnect(this.#findOrCreateStream(manager))).created);
    } catch (error) {
      this.#epoch = undefined;
      throw error;
    }
  }

  async #findOrCreateStream({ streams }: JetStreamManager): Promise<{ readonly created: string }> {
    try {
      return await streams.info(this.#stream.name);
    } catch (error) {
      if (!isStreamNotFound(error)) throw error;
    }
    try {
      return await streams.add(this.#stream);
    } catch (error) {
      // Another process may have created it in the meantime, with another configuration, which then counts.
      return streams.info(this.#stream.name).catch(() => {
        throw error;
      });
    }
  }
}

/** Returns whether an error is the server's response that the stream does not exist. */
export function isStreamNotFound(error: unknown): boolean {
  return error instanceof Error && error.name === "StreamNotFoundError";
}

/** Returns the credentials of a URL. A user name without a password is a token. */
function credentials(user: string, pass: string): ConnectionOptions {
  if (user === "") return {};
  return pass === "" ? { token: user } : { user, pass };
}
