/**
 * The torture run against real servers: two built processes behind an nginx, and a Redis or a NATS.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { NatsServer } from "./nats-server.ts";
import { Nginx } from "./nginx.ts";
import { RedisServer } from "./redis-server.ts";
import { build, type Environment, type Running, startNode } from "./run-tsweb.ts";
import { Site } from "./site.ts";
import type { TortureWorld } from "./torture.ts";
import { type Ledger, readNats, readRedis } from "./torture-ledger.ts";

/** What carries the messages. */
export type BusKind = "redis" | "nats";

/** The application: functions that give feeds and publish, and a page that shows what comes. */
const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as live from "./live.server.ts";
    import * as pages from "./pages.server.tsx";
    export default new App({ title: "Live", modules: [live, pages], rate: false });`,
  "src/live.server.ts": `
    import { channel, publish, server } from "tsweb";
    export const feeds = server((names: string[]) => Promise.all(names.map((name) => channel(name))));
    export const say = server(async (room: string, texts: string[]) => {
      const settled = await Promise.allSettled(texts.map((text) => publish(room, text)));
      return settled.map(({ status }) => status === "fulfilled");
    });
    export const flood = server(async (room: string, from: number, count: number, size: number) => {
      const texts = Array.from({ length: count }, (_, at) => \`\${from + at}:\${"x".repeat(size)}\`);
      await Promise.all(texts.map((text) => publish(room, text)));
    });
    export const say_here = server(async (room: string) => {
      await publish(room, String(process.pid));
      return process.pid;
    });
    export const where = server(() => process.pid);
    export const memory = server(() => process.memoryUsage().rss);`,
  "src/pages.server.tsx": `
    import { channel, page } from "tsweb";
    import { Room } from "./room.tsx";
    export const room = page("/", async () => <Room feed={await channel<string>("room")} />);`,
  "src/room.tsx": `
    import { type Feed, on_mount, state, subscribe, view } from "tsweb/browser";
    import { where } from "./live.server.ts";
    export const Room = view(({ feed }: { feed: Feed<string> }) => {
      const shown = state({ texts: [] as string[], calls: 0 });
      on_mount(() => subscribe(feed, (text) => shown.texts.push(text)));
      const call = async () => {
        await where();
        shown.calls += 1;
      };
      return (
        <main>
          <output>{shown.texts.join()}</output>
          <button onClick={call}>{shown.calls}</button>
        </main>
      );
    });`,
};

/** Makes the application, and builds it. */
export async function buildTortureSite(): Promise<Site> {
  const site = Site.of(FILES);
  await build(site.dir);
  return site;
}

/** Gives arguments for Node with which a process starts with its calendar moved on. */
export function movedCalendar(ms: number): string[] {
  return preloading(`
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

/** Gives arguments for Node with which what a process measures passes so many times as fast; its timers do not. */
export function fastClock(times: number): string[] {
  return preloading(`
    const real = performance.now.bind(performance);
    performance.now = () => real() * ${times};`);
}

function preloading(code: string): string[] {
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}

/** A server process on a port of its own, to be killed and started again. */
export class Process {
  readonly port: number;
  readonly #dir: string;
  readonly #env: Environment;
  #running: Running | undefined;

  private constructor(port: number, dir: string, env: Environment) {
    this.port = port;
    this.#dir = dir;
    this.#env = env;
  }

  /** Starts a built application. @param args for Node, before the program */
  static async start(dir: string, env: Environment, args: readonly string[] = []): Promise<Process> {
    const one = new Process(await freePort(), dir, env);
    await one.restart(args);
    return one;
  }

  /** As `http://127.0.0.1:43121`. */
  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /**
   * Starts it again on the same port.
   *
   * @param args for Node, before the program
   */
  async restart(args: readonly string[] = []): Promise<void> {
    const env = { ...this.#env, PORT: String(this.port) };
    this.#running = await startNode(this.#dir, [...args, "--unhandled-rejections=strict", "dist/server.mjs"], env);
  }

  /** Ends it there and then. */
  async kill(): Promise<void> {
    this.#running?.signal("SIGKILL");
    await this.#running?.ended;
  }

  /** All that it has written since it was started last. */
  output(): string {
    return this.#running?.output() ?? "";
  }

  /** Stops it in order. @returns its exit code */
  async stop(): Promise<number | null> {
    return (await this.#running?.stop()) ?? null;
  }
}

/** Gives the environment of processes that serve one application over one bus. */
export function sharedEnvironment(busUrl?: string): Environment {
  return {
    WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
    WEB_TRUST_PROXY: "2", // nginx, and the test itself, which says from where its readers come
    WEB_MAX_STREAMS_PER_CLIENT: "10000", // all readers of a test have one address
    ...(busUrl === undefined ? {} : { WEB_BUS_URL: busUrl }),
  };
}

/** A world of its own for one run. Whoever opens it closes it. */
export interface OpenWorld extends TortureWorld {
  /** Stops all of it. @returns the exit codes of the processes */
  close(): Promise<(number | null)[]>;
}

/** Starts all that a run needs. */
export async function openWorld(site: Site, kind: BusKind): Promise<OpenWorld> {
  const bus = await (kind === "redis" ? RedisServer.start({ appendOnly: true }) : NatsServer.start());
  const env = sharedEnvironment(bus.url);
  const processes = [await Process.start(site.dir, env), await Process.start(site.dir, env)];
  const nginx = await Nginx.start({ ports: processes.map(({ port }) => port) });
  const ledger = (channels: readonly string[]): Promise<Ledger> =>
    kind === "redis" ? readRedis(bus.url, channels) : readNats(bus.url);
  const down = (server: Killable, most: number) => ({
    strike: async (chance: { between(least: number, most: number): number }) => {
      const ms = chance.between(50, most);
      await server.kill();
      await pause(ms); // how long it is down is chance
      await server.restart();
    },
  });
  const [first, second] = processes as [Process, Process]; // there are two
  return {
    entry: nginx.address,
    servers: processes.map(({ address }) => address),
    ledger,
    strikes: [
      { at: 0.2, ...down(bus, 1_500) },
      { at: 0.4, ...down(first, 1_000) },
      { at: 0.55, ...down(nginx, 500) },
      { at: 0.65, ...down(bus, 500) },
      { at: 0.8, ...down(second, 500) },
    ],
    async close() {
      const codes = await Promise.all(processes.map((each) => each.stop()));
      await nginx.stop();
      await bus.stop();
      return codes;
    },
  };
}

interface Killable {
  kill(): Promise<void>;
  restart(): Promise<void>;
}
