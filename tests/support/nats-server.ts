/**
 * A NATS server for tests, with JetStream and file storage, on a free port and in a temporary folder. A test
 * can kill, pause and restart it.
 */
import { spawn } from "node:child_process";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { Certificate } from "./certificate.ts";
import { startOnFreePort } from "./free-port.ts";
import { PROGRAM_ENVIRONMENT, ProgramProcess, waitForOutput } from "./program-process.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

/** The options of {@link NatsServer.start}. */
export interface NatsServerOptions {
  /** The password of the user `tsweb`. Without it the server accepts every connection. */
  readonly password?: string;
  /** Runs as a server of a cluster, under its name. */
  readonly cluster?: { readonly server: string; readonly port: number; readonly ports: readonly number[] };
  /** Accepts clients with TLS only. */
  readonly certificate?: Certificate | undefined;
  /** Whether JetStream is enabled. Default: true. */
  readonly jetStream?: boolean;
  /** The folder of its data. Default: one that {@link NatsServer.stop} removes. */
  readonly storeFolder?: string;
}

/** A NATS server, running or not. */
export class NatsServer {
  readonly port: number;
  readonly #folder = new TemporaryFolder("nats");
  readonly #process = new ProgramProcess();
  readonly #options: NatsServerOptions;

  private constructor(port: number, options: NatsServerOptions) {
    this.port = port;
    this.#options = options;
  }

  /** Starts a server, and waits until it accepts connections. The caller has to {@link stop} it. */
  static start(options: NatsServerOptions = {}): Promise<NatsServer> {
    return startOnFreePort((port) => new NatsServer(port, options));
  }

  /** The URL, for example `nats://127.0.0.1:43121`, with user and password if there is a password. */
  get url(): string {
    const { password, certificate } = this.#options;
    const user = password === undefined ? "" : `tsweb:${password}@`;
    // The client verifies host names only.
    return certificate ? `tls://${user}localhost:${this.port}` : `nats://${user}127.0.0.1:${this.port}`;
  }

  /** Starts the server again on the same port, with its stored data. */
  async restart(): Promise<void> {
    const { password, certificate, jetStream = true, cluster, storeFolder = this.#folder.path } = this.#options;
    const child = spawn(
      process.env.TSWEB_TEST_NATS ?? "nats-server",
      [
        ...["--addr", "127.0.0.1", "--port", String(this.port)],
        ...(jetStream ? ["--jetstream", "--store_dir", storeFolder] : []),
        ...(password === undefined ? [] : ["--user", "tsweb", "--pass", password]),
        ...(certificate ? ["--tls", "--tlscert", certificate.certificateFile, "--tlskey", certificate.keyFile] : []),
        ...(cluster ? clusterArguments(cluster) : []),
      ],
      { stdio: ["ignore", "ignore", "pipe"], env: PROGRAM_ENVIRONMENT },
    );
    this.#process.setChild(child);
    await waitForOutput(child, "Server is ready");
  }

  /** Kills the server with SIGKILL, as a crash would. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  /** Deletes a stream and its messages. */
  async deleteStream(name: string): Promise<void> {
    const connection = await connect({
      servers: this.url,
      ...(this.#options.password ? { user: "tsweb", pass: this.#options.password } : {}),
    });
    try {
      await (await jetstreamManager(connection)).streams.delete(name);
    } finally {
      await connection.close();
    }
  }

  /** Copies the stored data for {@link restore}. The server must not run. */
  save(): void {
    this.#folder.save();
  }

  /** Replaces the stored data by those that {@link save} copied. The server must not run. */
  restore(): void {
    this.#folder.restore();
  }

  /** Stops the process with SIGSTOP: the system accepts connections, but the server answers nothing. */
  pause(): Promise<void> {
    return this.#process.pause();
  }

  /** Continues the process after {@link pause}. */
  resume(): void {
    this.#process.signal("SIGCONT");
  }

  /** Kills the server and deletes its data. */
  async stop(): Promise<void> {
    await this.kill();
    this.#folder.remove();
  }
}

function clusterArguments({ server, port, ports }: NonNullable<NatsServerOptions["cluster"]>): string[] {
  const routes = ports.map((each) => `nats://127.0.0.1:${each}`).join(",");
  return ["--name", server, "--cluster_name", "test", "--cluster", `nats://127.0.0.1:${port}`, "--routes", routes];
}
