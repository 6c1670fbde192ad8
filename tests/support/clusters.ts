/**
 * Servers of a bus that survive the loss of one of them: a Redis with Sentinel, a Redis cluster, a NATS cluster with
 * JetStream.
 */
import { execFile } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { TEST_NAMESPACE } from "./app-process.ts";
import type { Certificate } from "./certificate.ts";
import { freePort } from "./free-port.ts";
import { NatsServer } from "./nats-server.ts";
import { PRIMARY_NAME, RedisSentinel } from "./redis-sentinel.ts";
import { RedisServer } from "./redis-server.ts";
import { readNatsMessages, type StoredMessages } from "./stored-messages.ts";
import { trustCertificate } from "./trusted-certificate.ts";

/** After which time a server of Redis counts as failed, in milliseconds: by default less than in production. */
const DOWN_AFTER_MS = Number(process.env.TORTURE_DOWN_AFTER ?? 2_000);

/** How long messages are acknowledged that no replica of Redis receives, before its primary fails. */
const UNREPLICATED_MS = 300;

/** How a server fails: it is killed with SIGKILL, or it is frozen with SIGSTOP. */
export type Failure = "kill" | "freeze";

/** Servers of a bus. */
export interface ClusteredServers {
  /** URLs of the same bus, each for a process of its own: they name different hosts first. */
  readonly urls: readonly [string, string];
  /** Waits until another server can take the place of the primary. */
  ready(): Promise<void>;
  /** Kills or freezes the server that stores the messages. */
  failPrimary(failure: Failure): Promise<void>;
  /** Starts or continues the servers that have failed. */
  restore(): Promise<void>;
  /** Freezes all servers that store copies. Only of servers that lose no acknowledged message. */
  freezeReplicas?(): Promise<void>;
  /** Returns the stored messages. Only of servers that lose no acknowledged message. */
  readStored?(): Promise<StoredMessages>;
  /**
   * Returns whether a fail-over can leave different copies of the messages on the servers, so that one that was acknowledged
   * is lost: before NATS 2.11.
   *
   * @see https://github.com/nats-io/nats-server/pull/6486
   */
  canLoseAcknowledged?(): Promise<boolean>;
  stop(): Promise<void>;
}

/** Calls a function until it returns a value. */
async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find().catch(() => undefined);
    if (found !== undefined) return found;
    await pause(100);
  }
}

/** Returns the server that stores the messages: a primary that serves the slot of the keys. */
function primaryOf(servers: readonly RedisServer[]): Promise<RedisServer> {
  return until(async () => {
    for (const server of servers) {
      const info = await atOnce(server, (client) => client.info("replication")).catch(() => "");
      const isServed = await atOnce(server, (client) => client.exists(`tsweb:{${TEST_NAMESPACE}}:epoch`)).catch(
        () => undefined,
      );
      if (/^role:master/m.test(info) && /^connected_slaves:[1-9]/m.test(info) && isServed !== undefined) return server;
    }
    return undefined;
  });
}

/** Sends a command to a server that may be down. */
async function atOnce<T>(
  server: RedisServer,
  send: (client: ReturnType<RedisServer["client"]>) => Promise<T>,
): Promise<T> {
  const client = server.client({ maxRetriesPerRequest: 0, retryStrategy: () => null });
  try {
    return await send(client);
  } finally {
    client.disconnect();
  }
}

/** A server that can fail. */
interface FallibleServer {
  kill(): Promise<void>;
  restart(): Promise<void>;
  pause(): Promise<void>;
  resume(): void;
}

/** Kills or freezes a server. @returns a function that starts or continues it */
async function failServer(server: FallibleServer, failure: Failure): Promise<() => Promise<void>> {
  if (failure === "kill") {
    await server.kill();
    return () => server.restart();
  }
  await server.pause();
  return async () => server.resume();
}

/** Lets the primary of some servers fail, after some writes that its replicas do not receive. */
class RedisServers {
  readonly servers: readonly RedisServer[];
  #restore: () => Promise<void> = async () => undefined;

  constructor(servers: readonly RedisServer[]) {
    this.servers = servers;
  }

  async ready(): Promise<void> {
    await primaryOf(this.servers);
  }

  async failPrimary(failure: Failure): Promise<void> {
    const primary = await primaryOf(this.servers);
    await atOnce(primary, (client) => client.client("KILL", "TYPE", "replica"));
    await pause(UNREPLICATED_MS);
    const server = {
      ...{ kill: () => primary.kill(), restart: () => primary.restart({ isPrimary: true }) },
      ...{ pause: () => primary.pause(), resume: () => primary.resume() },
    };
    this.#restore = await failServer(server, failure);
  }

  restore(): Promise<void> {
    return this.#restore();
  }

  async stop(): Promise<void> {
    for (const server of this.servers) await server.stop();
  }
}

/** Starts a primary, 2 replicas and 3 Sentinels. A primary without a replica refuses writes. */
export async function startSentinel(): Promise<ClusteredServers> {
  const primary = await RedisServer.start({ appendOnly: true });
  const options = { appendOnly: true, replicaOf: primary };
  const redis = new RedisServers([primary, await RedisServer.start(options), await RedisServer.start(options)]);
  for (const server of redis.servers) await server.client().config("SET", "min-replicas-to-write", "1");
  for (const replica of redis.servers.slice(1)) await replica.synchronize(primary);
  const start = () => RedisSentinel.start(primary, { quorum: 2, downAfterMs: DOWN_AFTER_MS });
  const sentinels = [await start(), await start(), await start()];
  const url = (ports: readonly number[]) =>
    `redis://${ports.map((port) => `127.0.0.1:${port}`).join(",")}?sentinel=${PRIMARY_NAME}`;
  const ports = sentinels.map(({ port }) => port);
  return {
    urls: [url(ports), url(ports.toReversed())],
    async ready() {
      await redis.ready();
      for (const sentinel of sentinels) await sentinel.know(2, 2);
    },
    failPrimary: (failure) => redis.failPrimary(failure),
    restore: () => redis.restore(), // a Sentinel makes it a replica
    async stop() {
      for (const sentinel of sentinels) await sentinel.stop();
      await redis.stop();
    },
  };
}

/** Starts a Redis cluster of 3 primaries with a replica each. */
export async function startRedisCluster(): Promise<ClusteredServers> {
  const start = () => RedisServer.start({ appendOnly: true, clusterTimeoutMs: DOWN_AFTER_MS });
  const servers: RedisServer[] = [];
  for (let n = 0; n < 6; n++) servers.push(await start());
  const nodes = servers.map(({ port }) => `127.0.0.1:${port}`);
  const create = ["--cluster", "create", ...nodes, "--cluster-replicas", "1", "--cluster-yes"];
  await promisify(execFile)("redis-cli", create);
  const redis = new RedisServers(servers);
  return {
    urls: [`redis://${nodes.slice(0, 3).join(",")}`, `redis://${nodes.slice(3).join(",")}`],
    async ready() {
      for (const server of servers) {
        await until(async () =>
          String(await server.client().cluster("INFO")).includes("state:ok") ? true : undefined,
        );
      }
      await redis.ready();
    },
    failPrimary: (failure) => redis.failPrimary(failure),
    restore: () => redis.restore(), // the cluster makes it a replica
    stop: () => redis.stop(),
  };
}

/** Starts a NATS cluster of 3 servers with JetStream, which all clients use with TLS. */
export async function startNatsClusterWithTls(): Promise<ClusteredServers> {
  const certificate = trustCertificate();
  const servers = await startNatsCluster(certificate);
  const stop = async () => {
    await servers.stop();
    certificate.remove();
  };
  return { ...servers, stop };
}

/** Starts a NATS cluster of 3 servers with JetStream. */
export async function startNatsCluster(certificate?: Certificate): Promise<ClusteredServers> {
  const ports = [await freePort(), await freePort(), await freePort()];
  const starting = ports.map((port, n) => NatsServer.start({ certificate, cluster: { server: `n${n}`, port, ports } }));
  const servers = await Promise.all(starting);
  const hosts = servers.map(({ url }) => new URL(url).host);
  const url = (list: readonly string[]) => `${certificate ? "tls" : "nats"}://${list.join(",")}`;
  let restore = async (): Promise<void> => undefined;
  /** Returns the server with the first copy of the messages, when both others have all of them. */
  const leader = () =>
    until(async () => {
      const connection = await connect({ servers: hosts, timeout: 1_000 });
      try {
        const { cluster } = await (await jetstreamManager(connection)).streams.info(`tsweb-live-${TEST_NAMESPACE}`);
        const isComplete = cluster?.replicas?.length === 2 && cluster.replicas.every(({ current }) => current);
        return isComplete ? servers.find((_, n) => cluster.leader === `n${n}`) : undefined;
      } finally {
        await connection.close();
      }
    });
  return {
    urls: [url(hosts), url(hosts.toReversed())],
    ready: async () => void (await leader()),
    async failPrimary(failure) {
      restore = await failServer(await leader(), failure);
    },
    restore: () => restore(),
    async freezeReplicas() {
      const primary = await leader();
      const replicas = servers.filter((server) => server !== primary);
      const restores = await Promise.all(replicas.map((server) => failServer(server, "freeze")));
      restore = async () => void (await Promise.all(restores.map((each) => each())));
    },
    async canLoseAcknowledged() {
      const connection = await connect({ servers: hosts });
      const [major = 0, minor = 0] = (connection.info?.version ?? "").split(".").map(Number);
      await connection.close();
      return major === 2 && minor < 11;
    },
    async readStored() {
      await leader(); // a server that was just restarted does not answer yet
      return readNatsMessages(servers[0]?.url ?? "", () => undefined);
    },
    async stop() {
      for (const server of servers) await server.stop();
    },
  };
}
