/**
 * A Redis of a test's own: on a free port of this machine, in a folder of its own, to be killed,
 * stopped in its tracks and started again.
 */
import { spawn } from "node:child_process";
import { Redis, type RedisOptions } from "ioredis";
import { startOnFreePort } from "./free-port.ts";
import { OwnFolder } from "./own-folder.ts";
import { OwnProcess, untilWritten } from "./own-process.ts";

/** How a Redis is started. */
export interface RedisServerOptions {
  /** Every write is on the disk before it is answered, and there again after a restart. */
  readonly appendOnly?: boolean;
  readonly password?: string;
}

/** A Redis that runs, or did. */
export class RedisServer {
  readonly port: number;
  readonly #folder = new OwnFolder("redis");
  readonly #process = new OwnProcess();
  readonly #setup: RedisServerOptions;
  readonly #clients: Redis[] = [];

  private constructor(port: number, setup: RedisServerOptions) {
    this.port = port;
    this.#setup = setup;
  }

  /** Starts one, and waits until it takes commands. */
  static start(setup: RedisServerOptions = {}): Promise<RedisServer> {
    return startOnFreePort((port) => new RedisServer(port, setup));
  }

  /** As `redis://127.0.0.1:43121`, with the password where there is one. */
  get url(): string {
    const { password } = this.#setup;
    return `redis://${password === undefined ? "" : `:${password}@`}127.0.0.1:${this.port}`;
  }

  /** Gives a connection for the test's own questions. It ends with the server's {@link stop}. */
  client(options: RedisOptions = {}): Redis {
    const client = new Redis(this.url, options);
    // It comes back when the server does; what cannot be asked meanwhile waits.
    client.on("error", () => undefined);
    this.#clients.push(client);
    return client;
  }

  /** Starts it again on the same port, with what its append-only file kept. */
  async restart(): Promise<void> {
    const { appendOnly = false, password } = this.#setup;
    const child = spawn(
      "redis-server",
      [
        ...["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.#folder.path, "--save", ""],
        ...["--appendonly", appendOnly ? "yes" : "no", "--appendfsync", "always"],
        ...(password === undefined ? [] : ["--requirepass", password]),
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    this.#process.become(child);
    await untilWritten(child, "Ready to accept connections");
  }

  /** Ends it there and then, as a crash would. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  /** Copies what its append-only file keeps, while it does not run; {@link restore} brings that back. */
  save(): void {
    this.#folder.save();
  }

  /** Puts what {@link save} copied in the place of what was kept since; it must not run. */
  restore(): void {
    this.#folder.restore();
  }

  /** Stops it in its tracks: it takes connections, and answers nothing. */
  pause(): void {
    this.#process.signal("SIGSTOP");
  }

  /** Lets it go on. */
  resume(): void {
    this.#process.signal("SIGCONT");
  }

  /** Ends it, and deletes what it kept. */
  async stop(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.disconnect();
    await this.kill();
    this.#folder.remove();
  }
}
