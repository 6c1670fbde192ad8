import type { JetStreamClient, JetStreamManager, StreamConfig } from "@nats-io/jetstream";
import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";
import { ConfigError } from "../../config/index.ts";
import type { Logger } from "../../logging/index.ts";
import { loadNatsPackages } from "./load-nats.ts";
import { epochFromCreated } from "./nats-position.ts";
import { errorMessage } from "./retry-policy.ts";

/** How long a connection may take to be made, and a request to be answered. */
const CONNECT_MS = 5_000;
const REQUEST_MS = 5_000;

/** How often a server on a quiet connection is asked whether it lives, and how often in vain. */
const PING_MS = 3_000;
const PINGS_OUT = 2;

/** How long a connection that was lost is waited for: each time another time, so that not all come at once. */
const FIRST_MS = 50;
const LONGEST_MS = 2_000;

/** What is needed to talk to a stream that is there. */
export interface JetStreamContext {
  readonly connection: NatsConnection;
  readonly jetStream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** The stream's history, for positions. */
  readonly epoch: string;
  /** Makes a subject that is this process's alone. */
  createInbox(): string;
  /**
   * Waits for an answer, which is not to come any more once the connection is lost: the client would
   * wait for it on the next one.
   */
  answer<T>(asked: Promise<T>): Promise<T>;
}

/** What a connection gives, before the stream is known. */
type Connected = Omit<JetStreamContext, "epoch" | "answer">;

type Stream = Pick<StreamConfig, "name"> & Partial<StreamConfig>;

/** One connection to a NATS server, made at its first use and made again whenever it is lost. */
export class NatsConnector {
  /** Where it leads, without the name and password: this goes into logs. */
  readonly address: string;
  readonly #options: ConnectionOptions;
  readonly #stream: Stream;
  readonly #log: Logger;
  readonly #back: () => void;
  #connecting: Promise<Connected> | undefined;
  #connection: NatsConnection | undefined;
  #epoch: Promise<string> | undefined;
  readonly #asked = new Set<(error: Error) => void>();
  #isAway = false;
  #isLost = false;
  #isClosed = false;

  /**
   * @param url `nats://…`, or `tls://…`
   * @param back is called when a connection that was lost is there again
   */
  constructor(url: string, options: { stream: Stream; log: Logger; back: () => void }) {
    const { host, hostname, port, protocol, username, password } = new URL(url);
    this.address = host;
    this.#options = {
      ...{ servers: `${hostname}:${port || 4222}`, name: "tsweb", timeout: CONNECT_MS, noAsyncTraces: true },
      ...{ pingInterval: PING_MS, maxPingOut: PINGS_OUT },
      ...{ maxReconnectAttempts: -1, ignoreAuthErrorAbort: true, reconnectDelayHandler: delayMs },
      ...(protocol === "tls:" ? { tls: {} } : {}),
      ...credentials(decodeURIComponent(username), decodeURIComponent(password)),
    };
    this.#stream = options.stream;
    this.#log = options.log;
    this.#back = options.back;
  }

  /**
   * Gives what is needed to talk to the stream, which is made where there is none.
   *
   * @throws Error when the server is away; ConfigError when its client is not installed
   */
  async session(): Promise<JetStreamContext> {
    if (this.#isClosed) throw new Error("The bus is closed.");
    this.#connecting ??= this.#connect();
    const connected = await this.#connecting;
    // The client would keep what is asked meanwhile, without a bound.
    if (this.#isLost) throw this.#away();
    this.#epoch ??= this.#find(connected.manager);
    return { ...connected, epoch: await this.#epoch, answer: (asked) => this.#answer(asked) };
  }

  #answer<T>(asked: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#asked.add(reject);
      asked.finally(() => this.#asked.delete(reject)).then(resolve, reject);
    });
  }

  #away(): Error {
    return new Error(`NATS at ${this.address} is away.`);
  }

  /** Looks for the stream anew, next time: it may have been deleted. */
  forget(): void {
    this.#epoch = undefined;
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  async #connect(): Promise<Connected> {
    try {
      const { connect, createInbox, jetstream, jetstreamManager } = await loadNatsPackages();
      const connection = await connect(this.#options);
      if (this.#isClosed) {
        await connection.close();
        throw new Error("The bus is closed.");
      }
      this.#connection = connection;
      void this.#follow(connection);
      this.#tellReturn();
      const options = { checkAPI: false, timeout: REQUEST_MS };
      const manager = await jetstreamManager(connection, options);
      return { connection, manager, jetStream: jetstream(connection, options), createInbox: () => createInbox() };
    } catch (error) {
      this.#connecting = undefined;
      if (!(error instanceof ConfigError)) this.#tellLoss(errorMessage(error));
      throw error;
    }
  }

  /** Follows what becomes of the connection, until its end. Never rejects. */
  async #follow(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === "disconnect") {
        this.#isLost = true;
        this.#epoch = undefined;
        for (const refuse of this.#asked) refuse(this.#away());
        this.#tellLoss("The connection was closed.");
      } else if (type === "reconnect") {
        this.#isLost = false;
        this.#tellReturn();
        this.#back();
      }
    }
    // The client has given up: the next one who asks begins anew.
    this.#isLost = false;
    this.#connecting = undefined;
    this.#epoch = undefined;
  }

  async #find(manager: JetStreamManager): Promise<string> {
    try {
      return epochFromCreated((await this.#answer(this.#findOrMake(manager))).created);
    } catch (error) {
      this.#epoch = undefined;
      throw error;
    }
  }

  async #findOrMake({ streams }: JetStreamManager): Promise<{ readonly created: string }> {
    try {
      return await streams.info(this.#stream.name);
    } catch (error) {
      if (!isStreamNotFound(error)) throw error;
    }
    try {
      return await streams.add(this.#stream);
    } catch (error) {
      // Another process may have been faster, with other settings: then those are.
      return streams.info(this.#stream.name).catch(() => {
        throw error;
      });
    }
  }

  #tellLoss(reason: string): void {
    if (this.#isAway || this.#isClosed) return;
    this.#isAway = true;
    this.#log.warn({ nats: this.address, reason }, "NATS is away; it is tried until it is back");
  }

  #tellReturn(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#log.info({ nats: this.address }, "NATS is back");
  }
}

/** Answers whether an error says that there is no such stream. */
export function isStreamNotFound(error: unknown): boolean {
  return error instanceof Error && error.name === "StreamNotFoundError";
}

function delayMs(): number {
  return FIRST_MS + Math.random() * (LONGEST_MS - FIRST_MS) * 0.25;
}

/** In an address, a name without a password is a token. */
function credentials(user: string, pass: string): ConnectionOptions {
  if (user === "") return {};
  return pass === "" ? { token: user } : { user, pass };
}
