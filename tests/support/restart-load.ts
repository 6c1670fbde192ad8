/**
 * The load of the tests of restarts: callers, a publisher and listeners, all through a proxy.
 */
import { once } from "node:events";
import { Agent, get, type IncomingMessage, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { callFunction } from "./call-function.ts";
import { readEvents } from "./event-stream.ts";

/** The size of a load. */
export interface LoadSize {
  /** How many callers call at the same time. */
  readonly callers: number;
  /** The pause of a caller between two calls. */
  readonly pauseMs: number;
  readonly listeners: number;
}

/** What a load has observed. */
export interface LoadResult {
  readonly calls: number;
  /** The calls and live requests that failed: their status, or the code of the error. */
  readonly failures: readonly string[];
  readonly published: readonly string[];
  /** The messages that each listener has received. */
  readonly received: readonly (readonly string[])[];
}

const ROOM = "restarts";

/** As `docs/production.md` requires of a proxy: without one, the clients themselves meet the end of the drain (2 seconds). */
const IDLE_MS = 1_000;

/** A load that runs until {@link stop}. */
export class RestartLoad {
  readonly #origin: string;
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  readonly #failures: string[] = [];
  readonly #published: string[] = [];
  readonly #pids = new Set<number>();
  #calls = 0;
  #isStopped = false;
  readonly #callers: readonly Promise<void>[];
  readonly #listeners: readonly Listener[];

  private constructor(origin: string, { callers, pauseMs }: LoadSize, listeners: readonly Listener[]) {
    this.#origin = origin;
    this.#listeners = listeners;
    this.#callers = [...Array.from({ length: callers }, () => this.#callRepeatedly(pauseMs)), this.#publish(pauseMs)];
  }

  /** Starts a load. The caller has to stop it. */
  static async start(origin: string, size: LoadSize): Promise<RestartLoad> {
    const [feed = ""] = await callFunction<string[]>(origin, "issue_feeds", { names: [ROOM] });
    const listeners = Array.from({ length: size.listeners }, () => new Listener(`${origin}/__web/live?feed=${feed}`));
    return new RestartLoad(origin, size, listeners);
  }

  /** The number of processes that have answered so far. A restarted one counts again. */
  get processes(): number {
    return this.#pids.size;
  }

  /** Ends all calls, and waits until each listener has received everything. */
  async stop(): Promise<LoadResult> {
    this.#isStopped = true;
    await Promise.all(this.#callers);
    const last = this.#published.at(-1) ?? "";
    const received = await Promise.all(this.#listeners.map((listener) => listener.readTo(last)));
    const failures = [...this.#failures, ...this.#listeners.flatMap((listener) => listener.failures)];
    this.#agent.destroy();
    return { calls: this.#calls, failures, published: this.#published, received };
  }

  async #callRepeatedly(pauseMs: number): Promise<void> {
    while (!this.#isStopped) {
      const pid = await this.#call<number>("pid", {});
      if (pid !== null) this.#pids.add(pid);
      if (pauseMs > 0) await pause(pauseMs * (0.5 + Math.random()));
    }
  }

  async #publish(pauseMs: number): Promise<void> {
    for (let n = 1; !this.#isStopped; n++) {
      const published = await this.#call<boolean[]>("publish_texts", { room: ROOM, texts: [String(n)] });
      if (published?.[0]) this.#published.push(String(n));
      await pause(Math.max(10, pauseMs));
    }
  }

  /** @returns the result; `null` if the call has failed */
  async #call<T>(name: string, args: object): Promise<T | null> {
    try {
      const { statusCode, text } = await this.#send(name, args);
      if (statusCode === 200) {
        this.#calls++;
        return JSON.parse(text).result;
      }
      this.#failures.push(`${name}: ${statusCode}`);
    } catch (error) {
      this.#failures.push(`${name}: ${error}`);
    }
    return null;
  }

  /** @throws Error if the connection fails */
  async #send(name: string, args: object): Promise<{ readonly statusCode: number | undefined; readonly text: string }> {
    const headers = { "content-type": "application/json" };
    const call = request(`${this.#origin}/__web/rpc/${name}`, { method: "POST", agent: this.#agent, headers });
    call.end(JSON.stringify({ args }));
    const [response]: IncomingMessage[] = await once(call, "response");
    if (!response) throw new Error("There is no response.");
    const chunks: Buffer[] = await response.toArray();
    return { statusCode: response.statusCode, text: Buffer.concat(chunks).toString() };
  }
}

/** A listener with an event stream. It reconnects with its cursor whenever the stream ends, over a new connection. */
class Listener {
  readonly failures: string[] = [];
  readonly #url: string;
  readonly #received: string[] = [];
  readonly #abort = new AbortController();
  readonly #reading: Promise<void>;
  #onMessage: () => void = () => undefined;

  constructor(url: string) {
    this.#url = url;
    this.#reading = this.#read();
  }

  /** Waits until a message was received. @returns all messages */
  async readTo(last: string): Promise<readonly string[]> {
    while (last !== "" && !this.#received.includes(last)) {
      await new Promise<void>((resolve) => {
        this.#onMessage = resolve;
      });
    }
    this.#abort.abort();
    await this.#reading;
    return this.#received;
  }

  async #read(): Promise<void> {
    const { signal } = this.#abort;
    for (let cursor = ""; !signal.aborted; await pause(100)) {
      try {
        const live = get(cursor === "" ? this.#url : `${this.#url}&after=${cursor}`, { agent: false, signal });
        const [response]: IncomingMessage[] = await once(live, "response");
        if (!response) throw new Error("There is no response.");
        if (response.statusCode !== 200) this.failures.push(`listener: ${response.statusCode}`);
        for await (const { event, id, data } of readEvents(response)) {
          if (event === "gap") this.failures.push(`listener: gap ${data.join(" ")}`);
          if (id !== "") cursor = id;
          if (event !== "message") continue;
          this.#received.push(JSON.parse(data[1] ?? ""));
          this.#onMessage();
        }
      } catch (error) {
        if (!signal.aborted) this.failures.push(`listener: ${error}`);
      }
    }
  }
}
