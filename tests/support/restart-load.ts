/**
 * The load of the tests of restarts: callers, a publisher and listeners, all through a proxy.
 */
import { setTimeout as pause } from "node:timers/promises";
import { readEvents } from "./event-stream.ts";
import { callOver, type RestartClient } from "./restart-clients.ts";

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

/**
 * How many more callers make calls that take long: so many that each process which stops has some in flight. Other calls take a
 * millisecond or two, and hardly ever are in flight when a process ends too early.
 */
const SLOW_CALLERS = 8;
const SLOW_CALL_MS = 500;

let loads = 0;

/** Returns the name of a channel for a load: each that runs at the same time has its own. */
const nextRoom = () => `restarts ${++loads}`;

/** A load that runs until {@link stop}. */
export class RestartLoad {
  readonly #client: RestartClient;
  readonly #room: string;
  readonly #failures: string[] = [];
  readonly #published: string[] = [];
  readonly #pids = new Set<number>();
  #calls = 0;
  #isStopped = false;
  readonly #callers: readonly Promise<void>[];
  readonly #listeners: readonly Listener[];

  private constructor(
    client: RestartClient,
    { callers, pauseMs }: LoadSize,
    { room, listeners }: { room: string; listeners: readonly Listener[] },
  ) {
    this.#client = client;
    this.#room = room;
    this.#listeners = listeners;
    this.#callers = [
      ...Array.from({ length: callers }, () => this.#callRepeatedly("pid", {}, pauseMs)),
      ...Array.from({ length: SLOW_CALLERS }, () => this.#callRepeatedly("slow_pid", { ms: SLOW_CALL_MS }, 0)),
      this.#publish(pauseMs),
    ];
  }

  /** Starts a load. The caller has to stop it. @param client is closed when it stops */
  static async start(client: RestartClient, size: LoadSize): Promise<RestartLoad> {
    const room = nextRoom();
    const { result } = await callOver<string[]>(client, "issue_feeds", { names: [room] });
    const path = `/__web/live?feed=${result?.[0]}`;
    const listeners = Array.from({ length: size.listeners }, () => new Listener(client, path));
    return new RestartLoad(client, size, { room, listeners });
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
    this.#client.close();
    return { calls: this.#calls, failures, published: this.#published, received };
  }

  /** Ends it at once, also if listeners have not received everything. */
  end(): void {
    this.#isStopped = true;
    for (const listener of this.#listeners) listener.end();
    this.#client.close();
  }

  async #callRepeatedly(name: string, args: object, pauseMs: number): Promise<void> {
    while (!this.#isStopped) {
      const pid = await this.#call<number>(name, args);
      if (pid !== null) this.#pids.add(pid);
      if (pauseMs > 0) await pause(pauseMs * (0.5 + Math.random()));
    }
  }

  async #publish(pauseMs: number): Promise<void> {
    for (let n = 1; !this.#isStopped; n++) {
      const published = await this.#call<boolean[]>("publish_texts", { room: this.#room, texts: [String(n)] });
      if (published?.[0]) this.#published.push(String(n));
      await pause(Math.max(10, pauseMs));
    }
  }

  /** @returns the result; `null` if the call has failed */
  async #call<T>(name: string, args: object): Promise<T | null> {
    try {
      const { status, result } = await callOver<T>(this.#client, name, args);
      if (status === 200) {
        this.#calls++;
        return result;
      }
      this.#failures.push(`${name}: ${status}`);
    } catch (error) {
      this.#failures.push(`${name}: ${error}`);
    }
    return null;
  }
}

/** A listener with an event stream. It reconnects with its cursor whenever the stream ends, over a new connection. */
class Listener {
  readonly failures: string[] = [];
  readonly #client: RestartClient;
  readonly #path: string;
  readonly #received: string[] = [];
  readonly #abort = new AbortController();
  readonly #reading: Promise<void>;
  #onMessage: () => void = () => undefined;

  constructor(client: RestartClient, path: string) {
    this.#client = client;
    this.#path = path;
    this.#reading = this.#read();
  }

  /** Waits until a message was received. @returns all messages */
  async readTo(last: string): Promise<readonly string[]> {
    while (last !== "" && !this.#received.includes(last)) {
      await new Promise<void>((resolve) => {
        this.#onMessage = resolve;
      });
    }
    this.end();
    await this.#reading;
    return this.#received;
  }

  /** Ends the stream. */
  end(): void {
    this.#abort.abort();
  }

  async #read(): Promise<void> {
    const { signal } = this.#abort;
    for (let cursor = ""; !signal.aborted; await pause(100)) {
      try {
        const path = cursor === "" ? this.#path : `${this.#path}&after=${cursor}`;
        const { status, body } = await this.#client.send({ path, signal, usesOwnConnection: true });
        if (status !== 200) this.failures.push(`listener: ${status}`);
        for await (const { event, id, data } of readEvents(body)) {
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
