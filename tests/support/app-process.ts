/**
 * Processes of built applications that a test kills and restarts.
 */
import { randomBytes } from "node:crypto";
import { freePort } from "./free-port.ts";
import { type Environment, type RunningServer, startNode } from "./run-tsweb.ts";

/** A process of a built application, on a port of its own. */
export class AppProcess {
  readonly port: number;
  readonly #dir: string;
  readonly #env: Environment;
  #running: RunningServer | undefined;

  private constructor(port: number, dir: string, env: Environment) {
    this.port = port;
    this.#dir = dir;
    this.#env = env;
  }

  /**
   * Starts a built application. The caller has to {@link stop} it.
   *
   * @param args arguments for Node, before the program
   */
  static async start(dir: string, env: Environment, args: readonly string[] = []): Promise<AppProcess> {
    const process = new AppProcess(await freePort(), dir, env);
    await process.restart(args);
    return process;
  }

  /** The origin, such as `http://127.0.0.1:43121`. */
  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /**
   * Starts the process again on the same port.
   *
   * @param args arguments for Node, before the program
   */
  async restart(args: readonly string[] = []): Promise<void> {
    const env = { ...this.#env, PORT: String(this.port) };
    this.#running = await startNode(this.#dir, [...args, "--unhandled-rejections=strict", "dist/server.mjs"], env);
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    this.#running?.signal("SIGKILL");
    await this.#running?.exited;
  }

  /** Stops the process with SIGSTOP, as if its machine was frozen. */
  freeze(): void {
    this.#running?.signal("SIGSTOP");
  }

  /** Continues the process after {@link freeze}. */
  resume(): void {
    this.#running?.signal("SIGCONT");
  }

  /** Returns the output since the last start. */
  output(): string {
    return this.#running?.output() ?? "";
  }

  /** Stops the process with SIGTERM. @returns its exit code */
  async stop(): Promise<number | null> {
    return (await this.#running?.stop()) ?? null;
  }
}

/** The namespace on the bus of the processes that tests start. */
export const TEST_NAMESPACE = "test";

/** Returns the environment variables of processes that serve one application over one bus, behind proxies. */
export function sharedEnv(busUrl?: string): Environment {
  return {
    WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
    WEB_TRUST_PROXY: "2", // nginx, and the test, which sends the addresses of its clients
    WEB_MAX_STREAMS_PER_CLIENT: "10000", // most clients of a test have one address
    ...(busUrl === undefined ? {} : { WEB_BUS_URL: `${busUrl}?namespace=${TEST_NAMESPACE}` }),
  };
}

/** Returns arguments for Node that shift the time of `Date` in the process. */
export function shiftedDateArgs(ms: number): string[] {
  return preload(`
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...args) {
        if (args.length > 0) super(...args);
        else super(Real.now() + ${ms});
      }
      static now() {
        return Real.now() + ${ms};
      }
    };`);
}

/** Returns arguments for Node that accelerate `performance.now` in the process by a factor, but not its timers. */
export function acceleratedClockArgs(factor: number): string[] {
  return preload(`
    const real = performance.now.bind(performance);
    performance.now = () => real() * ${factor};`);
}

function preload(code: string): string[] {
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}
