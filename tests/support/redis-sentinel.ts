/** A Redis Sentinel for tests, which monitors a primary and promotes one of its replicas. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { Certificate } from "./certificate.ts";
import { startOnFreePort } from "./free-port.ts";
import { ProgramProcess, waitForOutput } from "./program-process.ts";
import { type RedisServer, tlsSettings } from "./redis-server.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

/** The options of {@link RedisSentinel.start}. */
export interface RedisSentinelOptions {
  /** The password of the Sentinel itself. */
  readonly password?: string;
  /** Accepts connections with TLS only. Its primary has to do so too. */
  readonly certificate?: Certificate | undefined;
  /** How many Sentinels have to agree that the primary is down. Default: 1. */
  readonly quorum?: number;
  /** How long the primary may be unreachable before a replica is promoted. Default: 1,000. */
  readonly downAfterMs?: number;
}

/** The name under which the primary is monitored. */
export const PRIMARY_NAME = "shop-primary";

/** A Sentinel. */
export class RedisSentinel {
  readonly port: number;
  readonly #folder = new TemporaryFolder("sentinel");
  readonly #process = new ProgramProcess();
  readonly #client: Redis;

  private constructor(port: number, primary: RedisServer, options: RedisSentinelOptions) {
    const { password, certificate, quorum = 1, downAfterMs = 1_000 } = options;
    this.port = port;
    this.#client = new Redis({
      ...{ port, lazyConnect: true },
      ...(password === undefined ? {} : { password }),
      ...(certificate ? { host: "127.0.0.1", tls: { ca: certificate.pem } } : {}),
    });
    this.#client.on("error", () => undefined);
    // Sentinel stores its state in this file.
    writeFileSync(
      join(this.#folder.path, "sentinel.conf"),
      [
        ...(certificate ? ["port 0", `tls-port ${port}`] : [`port ${port}`]),
        ...["bind 127.0.0.1", `dir ${this.#folder.path}`],
        ...(certificate ? tlsSettings(certificate).map((setting) => setting.join(" ")) : []),
        `sentinel monitor ${PRIMARY_NAME} 127.0.0.1 ${primary.port} ${quorum}`,
        `sentinel down-after-milliseconds ${PRIMARY_NAME} ${downAfterMs}`,
        `sentinel failover-timeout ${PRIMARY_NAME} 5000`,
        ...(password === undefined ? [] : [`requirepass ${password}`]),
      ].join("\n"),
    );
  }

  /** Starts a Sentinel. The caller has to {@link stop} it. */
  static start(primary: RedisServer, options: RedisSentinelOptions = {}): Promise<RedisSentinel> {
    return startOnFreePort((port) => new RedisSentinel(port, primary, options));
  }

  /** Starts the process again. */
  async restart(): Promise<void> {
    const child = spawn(
      process.env.TSWEB_TEST_REDIS ?? "redis-server",
      [join(this.#folder.path, "sentinel.conf"), "--sentinel"],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    this.#process.setChild(child);
    await waitForOutput(child, "Sentinel ID is");
  }

  /** Waits until it knows this number of replicas and of other Sentinels, so that it can promote a replica. */
  async know(replicas: number, sentinels: number): Promise<void> {
    const count = async (kind: "REPLICAS" | "SENTINELS") =>
      ((await this.#client.call("SENTINEL", kind, PRIMARY_NAME)) as unknown[]).length; // an array, by its documentation
    while ((await count("REPLICAS")) < replicas || (await count("SENTINELS")) < sentinels) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Kills the process, and deletes its data. */
  async stop(): Promise<void> {
    this.#client.disconnect();
    await this.#process.kill();
    this.#folder.remove();
  }
}
