/**
 * A NATS server of a test's own, with JetStream in files: on a free port of this machine, in a folder
 * of its own, to be killed, stopped in its tracks and started again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { startOnFreePort } from "./free-port.ts";

/** How a NATS server is started. */
export interface NatsSetup {
  /** The password of the user `tsweb`, without whom nobody is let in. */
  readonly password?: string;
  /** Without it, the server has no JetStream. */
  readonly jetStream?: boolean;
}

/** Where programs are. Debian keeps this one where only the system's own user looks. */
const PATH = `${process.env.PATH}:/usr/sbin`;

/** A NATS server that runs, or did. */
export class NatsServer {
  readonly port: number;
  readonly #dir = mkdtempSync(join(tmpdir(), "tsweb-nats-"));
  readonly #setup: NatsSetup;
  #process: ChildProcess | undefined;

  private constructor(port: number, setup: NatsSetup) {
    this.port = port;
    this.#setup = setup;
  }

  /** Starts one, and waits until it takes connections. */
  static start(setup: NatsSetup = {}): Promise<NatsServer> {
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
        ...(jetStream ? ["--jetstream", "--store_dir", this.#dir] : []),
        ...(password === undefined ? [] : ["--user", "tsweb", "--pass", password]),
      ],
      { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, PATH } },
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
    rmSync(`${this.#dir}-saved`, { recursive: true, force: true });
    cpSync(this.#dir, `${this.#dir}-saved`, { recursive: true });
  }

  /** Puts what {@link save} copied in the place of what it kept since; it must not run. */
  restore(): void {
    this.erase();
    cpSync(`${this.#dir}-saved`, this.#dir, { recursive: true });
  }

  /** Deletes what it kept; it must not run. */
  erase(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Stops it in its tracks: it takes connections, and answers nothing. Waits until all of it stands. */
  async pause(): Promise<void> {
    const child = this.#process;
    child?.kill("SIGSTOP");
    while (child && isRunning(child.pid)) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Lets it go on. */
  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Ends it, and deletes what it kept. */
  async stop(): Promise<void> {
    await this.kill();
    this.erase();
    rmSync(`${this.#dir}-saved`, { recursive: true, force: true });
  }

  /** A test that crashes leaves no server behind. */
  readonly #endWithUs = () => {
    this.#process?.kill("SIGKILL");
  };
}

/** Answers whether any thread of a process still runs. */
function isRunning(pid: number | undefined): boolean {
  const states = readdirSync(`/proc/${pid}/task`).map((task) => readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8"));
  return states.some((state) => !/\) [Tt] /.test(state));
}

/** Waits until it says that it takes connections. */
async function ready(child: ChildProcess): Promise<void> {
  let written = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      written += text;
      if (written.includes("Server is ready")) resolve();
    });
    child.once("error", (error) => reject(new Error("nats-server could not be started.", { cause: error })));
    child.once("exit", () => reject(new Error(`nats-server ended before it was ready:\n${written}`)));
  });
}
