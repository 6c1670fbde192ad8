/**
 * A Redis of a test's own: on a free port of this machine, in a folder of its own, to be killed,
 * stopped in its tracks and started again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis, type RedisOptions } from "ioredis";
import { startOnFreePort } from "./free-port.ts";

/** How a Redis is started. */
export interface RedisSetup {
  /** Every write is on the disk before it is answered, and there again after a restart. */
  readonly appendOnly?: boolean;
  readonly password?: string;
}

/** A Redis that runs, or did. */
export class RedisServer {
  readonly port: number;
  readonly #dir: string;
  readonly #setup: RedisSetup;
  readonly #clients: Redis[] = [];
  #process: ChildProcess | undefined;

  private constructor(port: number, setup: RedisSetup) {
    this.port = port;
    this.#setup = setup;
    this.#dir = mkdtempSync(join(tmpdir(), "tsweb-redis-"));
  }

  /** Starts one, and waits until it takes commands. */
  static start(setup: RedisSetup = {}): Promise<RedisServer> {
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
        ...["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.#dir, "--save", ""],
        ...["--appendonly", appendOnly ? "yes" : "no", "--appendfsync", "always"],
        ...(password === undefined ? [] : ["--requirepass", password]),
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    this.#process = child;
    process.once("exit", this.#endWithUs);
    await ready(child);
  }

  /** Ends it there and then, as a crash would. */
  async kill(): Promise<void> {
    process.off("exit", this.#endWithUs);
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Copies what its append-only file keeps, while it does not run; {@link restore} brings that back. */
  save(): void {
    rmSync(`${this.#dir}-saved`, { recursive: true, force: true });
    cpSync(this.#dir, `${this.#dir}-saved`, { recursive: true });
  }

  /** Puts what {@link save} copied in the place of what was kept since; it must not run. */
  restore(): void {
    rmSync(this.#dir, { recursive: true, force: true });
    cpSync(`${this.#dir}-saved`, this.#dir, { recursive: true });
  }

  /** Stops it in its tracks: it takes connections, and answers nothing. */
  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  /** Lets it go on. */
  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Ends it, and deletes what it kept. */
  async stop(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.disconnect();
    await this.kill();
    for (const dir of [this.#dir, `${this.#dir}-saved`]) rmSync(dir, { recursive: true, force: true });
  }

  /** A test that crashes leaves no server behind. */
  readonly #endWithUs = () => {
    this.#process?.kill("SIGKILL");
  };
}

/** Waits until it says that it takes commands. */
async function ready(child: ChildProcess): Promise<void> {
  let written = "";
  await new Promise<void>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      written += text;
      if (written.includes("Ready to accept connections")) resolve();
    });
    child.once("error", (error) => reject(new Error("redis-server could not be started.", { cause: error })));
    child.once("exit", () => reject(new Error(`redis-server ended before it was ready:\n${written}`)));
  });
}
