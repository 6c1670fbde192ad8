/**
 * A Redis server for tests, on a free port and in a temporary folder. A test can kill, pause and restart it.
 */
import { spawn } from "node:child_process";
import { Redis, type RedisOptions } from "ioredis";
import type { Certificate } from "./certificate.ts";
import { startOnFreePort } from "./free-port.ts";
import { ProgramProcess, waitForOutput } from "./program-process.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

/** Whether the server of the tests supports TLS. Some packages build it without: TSWEB_TEST_REDIS_TLS is then `no`. */
export const redisHasTls = process.env.TSWEB_TEST_REDIS_TLS !== "no";

/** The options of {@link RedisServer.start}. */
export interface RedisServerOptions {
  /** Stores every write on disk before the reply, so that it survives a restart. */
  readonly appendOnly?: boolean;
  readonly password?: string;
  /** Runs as the node of a cluster that serves these hash slots, the last one included. There are 16,384. */
  readonly clusterSlots?: readonly [first: number, last: number];
  /** Runs as the node of a cluster. It serves no slots at first; the others count it as failed after this time. */
  readonly clusterTimeoutMs?: number;
  /** Accepts connections with TLS only, also those of replicas and of the nodes of its cluster. */
  readonly certificate?: Certificate | undefined;
  /** Runs as a replica of this server. */
  readonly replicaOf?: RedisServer;
}

/** A Redis server, running or not. */
export class RedisServer {
  readonly port: number;
  readonly #folder = new TemporaryFolder("redis");
  readonly #process = new ProgramProcess();
  readonly #options: RedisServerOptions;
  readonly #clients: Redis[] = [];

  private constructor(port: number, options: RedisServerOptions) {
    this.port = port;
    this.#options = options;
  }

  /** Starts a server, and waits until it accepts commands. The caller has to {@link stop} it. */
  static start(options: RedisServerOptions = {}): Promise<RedisServer> {
    return startOnFreePort((port) => new RedisServer(port, options));
  }

  /** The URL, for example `redis://127.0.0.1:43121`, with the password if there is one. */
  get url(): string {
    const { password, certificate } = this.#options;
    return `${certificate ? "rediss" : "redis"}://${password === undefined ? "" : `:${password}@`}127.0.0.1:${this.port}`;
  }

  /** The port that the nodes of a cluster use among themselves. */
  get clusterPort(): number {
    return this.port > 50_000 ? this.port - 10_000 : this.port + 10_000;
  }

  /** Returns a client for the commands of the test itself. {@link stop} disconnects it. */
  client(options: RedisOptions = {}): Redis {
    const { certificate } = this.#options;
    const client = new Redis(this.url, { ...(certificate ? { tls: { ca: certificate.pem } } : {}), ...options });
    // The client reconnects when the server runs again, and queues commands until then.
    client.on("error", () => undefined);
    this.#clients.push(client);
    return client;
  }

  /**
   * Starts the server again on the same port, with the data of its append-only file.
   *
   * @param options `isPrimary`: not as a replica any more
   */
  async restart({ isPrimary = false } = {}): Promise<void> {
    const { appendOnly = false, password, clusterSlots, clusterTimeoutMs, certificate, replicaOf } = this.#options;
    const child = spawn(
      process.env.TSWEB_TEST_REDIS ?? "redis-server",
      [
        ...(certificate ? ["--port", "0", "--tls-port"] : ["--port"]),
        ...[String(this.port), "--bind", "127.0.0.1", "--dir", this.#folder.path, "--save", ""],
        ...["--appendonly", appendOnly ? "yes" : "no", "--appendfsync", "always"],
        ...["--repl-diskless-sync-delay", "0"], // a replica is synchronized at once
        ...(certificate ? tlsSettings(certificate).flatMap(([name, value]) => [`--${name}`, value]) : []),
        ...(password === undefined ? [] : ["--requirepass", password]),
        ...(replicaOf && !isPrimary
          ? ["--replicaof", "127.0.0.1", String(replicaOf.port), "--repl-diskless-sync-delay", "0"]
          : []),
        ...(clusterSlots || clusterTimeoutMs
          ? ["--cluster-enabled", "yes", "--cluster-port", String(this.clusterPort)]
          : []),
        ...(clusterTimeoutMs ? ["--cluster-node-timeout", String(clusterTimeoutMs)] : []),
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    this.#process.setChild(child);
    await waitForOutput(child, "Ready to accept connections");
    if (clusterSlots) await this.client().cluster("ADDSLOTSRANGE", ...clusterSlots);
  }

  /** Connects this node with the other nodes of its cluster, and waits until they serve all hash slots. */
  async formCluster(...others: readonly RedisServer[]): Promise<void> {
    const client = this.client();
    for (const { port, clusterPort } of others) await client.call("CLUSTER", "MEET", "127.0.0.1", port, clusterPort);
    for (const node of [client, ...others.map((server) => server.client())]) {
      while (!String(await node.cluster("INFO")).includes("cluster_state:ok")) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  }

  /** Moves a hash slot with its keys to another node of the cluster. */
  async migrateSlot(slot: number, target: RedisServer): Promise<void> {
    const [source, destination] = [this.client(), target.client()];
    const [sourceId, targetId] = [await source.cluster("MYID"), await destination.cluster("MYID")];
    await destination.cluster("SETSLOT", slot, "IMPORTING", sourceId);
    await source.cluster("SETSLOT", slot, "MIGRATING", targetId);
    const keys = await source.cluster("GETKEYSINSLOT", slot, 1_000);
    await source.call("MIGRATE", "127.0.0.1", target.port, "", 0, 5_000, "KEYS", ...keys);
    for (const node of [destination, source]) await node.cluster("SETSLOT", slot, "NODE", targetId);
  }

  /** Waits until this server, a replica, has received and stored all writes of its primary. */
  async synchronize(primary: RedisServer): Promise<void> {
    const offsetOf = async (server: RedisServer) =>
      /^master_repl_offset:(\d+)/m.exec(await server.client().info("replication"))?.[1];
    const isLinked = async () => /^master_link_status:up/m.test(await this.client().info("replication"));
    const isStored = async () =>
      !/^aof_rewrite_(in_progress|scheduled):1/m.test(await this.client().info("persistence"));
    while (!(await isLinked()) || (await offsetOf(this)) !== (await offsetOf(primary)) || !(await isStored())) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Kills the server with SIGKILL, as a crash would. */
  kill(): Promise<void> {
    return this.#process.kill();
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
    for (const client of this.#clients.splice(0)) client.disconnect();
    await this.kill();
    this.#folder.remove();
  }
}

/** Returns the settings of a Redis or a Sentinel that uses TLS for all of its connections. */
export function tlsSettings({ certificateFile, keyFile }: Certificate): [name: string, value: string][] {
  return [
    ["tls-cert-file", certificateFile],
    ["tls-key-file", keyFile],
    ["tls-ca-cert-file", certificateFile],
    ["tls-auth-clients", "no"],
    ["tls-replication", "yes"],
    ["tls-cluster", "yes"],
  ];
}
