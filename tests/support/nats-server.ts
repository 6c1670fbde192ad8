/**
 * A NATS server of a test's own, with JetStream in files: on a free port of this machine, in a folder
 * of its own, to be killed, stopped in its tracks and started again.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { startOnFreePort } from "./free-port.ts";
import { OwnFolder } from "./own-folder.ts";
import { ENVIRONMENT, OwnProcess, untilWritten } from "./own-process.ts";

/** How a NATS server is started. */
export interface NatsServerOptions {
  /** The password of the user `tsweb`, without whom nobody is let in. */
  readonly password?: string;
  /** Without it, the server has no JetStream. */
  readonly jetStream?: boolean;
}

/** A NATS server that runs, or did. */
export class NatsServer {
  readonly port: number;
  readonly #folder = new OwnFolder("nats");
  readonly #process = new OwnProcess();
  readonly #setup: NatsServerOptions;

  private constructor(port: number, setup: NatsServerOptions) {
    this.port = port;
    this.#setup = setup;
  }

  /** Starts one, and waits until it takes connections. */
  static start(setup: NatsServerOptions = {}): Promise<NatsServer> {
    return startOnFreePort((port) => new NatsServer(port, setup));
  }

  /** As `nats://127.0.0.1:43121`, with the user and the password where there is one. */
  get url(): string {
    const { password } = this.#setup;
    return `nats://${password === undefined ? "" : `tsweb:${password}@`}127.0.0.1:${this.port}`;
  }

  /** Starts it again on the same port, with what its files kept. */
  async restart(): Promise<void> {
    const { password, jetStream = true } = this.#setup;
    const child = spawn(
      "nats-server",
      [
        ...["--addr", "127.0.0.1", "--port", String(this.port)],
        ...(jetStream ? ["--jetstream", "--store_dir", this.#folder.path] : []),
        ...(password === undefined ? [] : ["--user", "tsweb", "--pass", password]),
      ],
      { stdio: ["ignore", "ignore", "pipe"], env: ENVIRONMENT },
    );
    this.#process.become(child);
    await untilWritten(child, "Server is ready");
  }

  /** Ends it there and then, as a crash would. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  /** Deletes a stream, with all that is in it. */
  async deleteStream(name: string): Promise<void> {
    const connection = await connect({
      servers: this.url,
      ...(this.#setup.password ? { user: "tsweb", pass: this.#setup.password } : {}),
    });
    try {
      await (await jetstreamManager(connection)).streams.delete(name);
    } finally {
      await connection.close();
    }
  }

  /** Copies what it kept, while it does not run; {@link restore} brings that back. */
  save(): void {
    this.#folder.save();
  }

  /** Puts what {@link save} copied in the place of what it kept since; it must not run. */
  restore(): void {
    this.#folder.restore();
  }

  /** Stops it in its tracks: it takes connections, and answers nothing. Waits until all of it stands. */
  async pause(): Promise<void> {
    const { pid } = this.#process;
    this.#process.signal("SIGSTOP");
    while (pid !== undefined && isRunning(pid)) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Lets it go on. */
  resume(): void {
    this.#process.signal("SIGCONT");
  }

  /** Ends it, and deletes what it kept. */
  async stop(): Promise<void> {
    await this.kill();
    this.#folder.remove();
  }
}

/** Answers whether any thread of a process still runs. */
function isRunning(pid: number): boolean {
  const states = readdirSync(`/proc/${pid}/task`).map((task) => readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8"));
  return states.some((state) => !/\) [Tt] /.test(state));
}
