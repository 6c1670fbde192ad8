/**
 * A browser with several tabs in one process: each tab runs the code of the browser in a realm of its own. Locks and channels of
 * broadcasts are models of the browser's, and so is the server, which publishes numbers. The test has to use fake timers.
 */
import { createContext, type Script } from "node:vm";
import type { subscribe } from "../../src/browser/subscribe.ts";
import { formatFeedText, parseFeedText } from "../../src/protocol/index.ts";
import { FakeLocks, type LockCallback } from "./fake-locks.ts";

/** A subscription of a tab, with the numbers that it received. */
export interface FakeListener {
  readonly channel: string;
  /** The number of messages when its feed was issued. */
  readonly from: number;
  readonly received: number[];
  readonly gaps: string[];
  readonly stop: () => void;
  isStopped: boolean;
}

type Task = () => void;

/** A stream that is open. */
interface FakeStream {
  readonly tab: FakeTab;
  readonly channels: readonly string[];
  readonly feeds: readonly string[];
  readonly positions: number[];
  readonly tokens: readonly string[];
  readonly body: ReadableStreamDefaultController<Uint8Array>;
}

/** The options of a {@link FakeBrowser}. */
export interface FakeBrowserOptions {
  /** Whether the browser has locks. Default: true. */
  readonly hasLocks?: boolean;
}

/** A browser, and a server to which all of its tabs are connected. */
export class FakeBrowser {
  readonly #script: Script;
  readonly options: FakeBrowserOptions;
  readonly locks = new FakeLocks<FakeTab>();
  readonly tabs: FakeTab[] = [];
  readonly channels = new Set<FakeChannel>();
  readonly counts = new Map<string, number>();
  readonly streams = new Set<FakeStream>();
  /** The sign-in of the browser's cookie. */
  signIn = "paWlpaWlpaU";
  /** How many of the next broadcasts are lost, in one of the tabs that they are for. */
  losses = 0;
  /** Whether the server refuses all requests. */
  isDown = false;
  /** Whether it sends 403 to all of them, as after a change of its key. */
  isRefusing = false;
  /** How long the server takes to respond, in milliseconds. */
  latencyMs = 5;
  /** How long the chunk takes that shares a connection, in milliseconds. */
  chunkMs = 5;
  /** How often it was loaded. */
  chunkCount = 0;
  /** A tab that cannot load it, and those that could not. */
  failingTab: FakeTab | undefined;
  readonly failed = new Set<FakeTab>();
  /** The largest number of streams at one time. */
  maxStreams = 0;
  requestCount = 0;

  constructor(script: Script, options: FakeBrowserOptions = {}) {
    this.#script = script;
    this.options = options;
  }

  /** Opens a tab. */
  open({ isHidden = false }: { readonly isHidden?: boolean } = {}): FakeTab {
    const tab = new FakeTab(this, this.#script, isHidden);
    this.tabs.push(tab);
    return tab;
  }

  publish(channel: string): void {
    this.counts.set(channel, this.count(channel) + 1);
    for (const stream of this.streams) this.#write(stream);
  }

  count(channel: string): number {
    return this.counts.get(channel) ?? 0;
  }

  /** Breaks all streams. */
  cut(): void {
    for (const stream of [...this.streams]) this.close(stream, new TypeError("network error"));
  }

  /** Ends streams normally, or with an error. */
  close(stream: FakeStream, error?: Error): void {
    if (!this.streams.delete(stream)) return;
    if (error) stream.body.error(error);
    else stream.body.close();
  }

  /** Responds to a request of a tab. */
  fetch(tab: FakeTab, url: string, init: { readonly body: string; readonly signal: AbortSignal }): Promise<Response> {
    const { feeds, tokens, cursor } = JSON.parse(init.body) as { feeds: string[]; tokens: string[]; cursor: string }; // what a tab sends
    this.requestCount += 1;
    return new Promise((resolve, reject) => {
      init.signal.addEventListener("abort", () => reject(init.signal.reason));
      setTimeout(() => {
        if (init.signal.aborted) return;
        if (this.isDown || tab.isGone) {
          tab.run(() => reject(new TypeError("Failed to fetch")));
          return;
        }
        if (this.isRefusing) {
          tab.run(() => resolve(new Response(null, { status: 403 })));
          return;
        }
        const channels = feeds.map((feed) => readFeed(feed).channel);
        const positions = cursor.split(",").map((position) => Number(position.slice(2)));
        if (url.endsWith("/poll")) {
          tab.run(() => resolve(this.#poll(feeds, channels, positions)));
          return;
        }
        const body = new ReadableStream<Uint8Array>({
          start: (controller) => {
            const stream = { tab, feeds, channels, positions, tokens, body: controller };
            this.streams.add(stream);
            this.maxStreams = Math.max(this.maxStreams, this.streams.size);
            init.signal.addEventListener("abort", () => this.close(stream, new Error("aborted")));
            controller.enqueue(new TextEncoder().encode("retry: 1000\n\n"));
            this.#write(stream);
          },
        });
        tab.run(() => resolve(new Response(body, { headers: { "content-type": "text/event-stream" } })));
      }, this.latencyMs);
    });
  }

  /** Loads the chunk that shares a connection. */
  loadChunk(tab: FakeTab): Promise<void> {
    this.chunkCount += 1;
    const isFailing = tab === this.failingTab;
    if (isFailing) this.failed.add(tab);
    return new Promise((resolve, reject) => {
      const settle = () => (isFailing ? reject(new TypeError("Failed to fetch")) : resolve());
      setTimeout(() => tab.run(settle), this.chunkMs);
    });
  }

  #poll(feeds: readonly string[], channels: readonly string[], positions: readonly number[]): Response {
    const events = channels.flatMap((channel, i) =>
      Array.from({ length: this.count(channel) - (positions[i] ?? 0) }, (_, n) => {
        const number = (positions[i] ?? 0) + n + 1;
        return [channel, number, `${i}=e.${number}`];
      }),
    );
    const gaps = channels.filter((_, i) => !this.#isValid(feeds[i] ?? "")).map((channel) => [channel, "expired"]);
    return Response.json({ events, gaps, cursor: channels.map((channel) => `e.${this.count(channel)}`).join() });
  }

  #isValid(feed: string): boolean {
    return readFeed(feed).tag === this.signIn;
  }

  #write(stream: FakeStream): void {
    let text = "";
    stream.channels.forEach((channel, i) => {
      if (Number.isNaN(stream.positions[i])) return;
      if (!this.#isValid(stream.feeds[i] ?? "") && stream.positions[i] !== undefined) {
        // As the server, which checks tags when a request starts.
        if (!this.#isChecked(stream)) {
          text += `id: ${i}=-\nevent: gap\ndata: ${channel}\ndata: expired\n\n`;
          stream.positions[i] = Number.NaN;
          return;
        }
      }
      while ((stream.positions[i] ?? 0) < this.count(channel)) {
        const number = (stream.positions[i] ?? 0) + 1;
        stream.positions[i] = number;
        text += `id: ${i}=e.${number}\ndata: ${channel}\ndata: ${number}\n\n`;
      }
    });
    this.#checked.add(stream);
    const { tab } = stream;
    if (text) tab.run(() => this.streams.has(stream) && stream.body.enqueue(new TextEncoder().encode(text)));
  }

  readonly #checked = new WeakSet<FakeStream>();

  #isChecked(stream: FakeStream): boolean {
    return this.#checked.has(stream);
  }
}

function readFeed(feed: string) {
  const parsed = parseFeedText(Buffer.from(feed, "base64url").subarray(0, -16).toString());
  if (!parsed) throw new Error(`The tab has sent ${feed}.`);
  return parsed;
}

/** The channel of broadcasts of one tab. */
class FakeChannel {
  onmessage: ((event: { readonly data: unknown }) => void) | undefined;
  readonly tab: FakeTab;
  readonly name: string;

  constructor(tab: FakeTab, name: string) {
    this.tab = tab;
    this.name = name;
    tab.browser.channels.add(this);
  }

  postMessage(data: unknown): void {
    const { browser } = this.tab;
    if (!browser.channels.has(this)) throw new DOMException("Channel is closed", "InvalidStateError");
    for (const other of browser.channels) {
      if (other === this || other.name !== this.name) continue;
      if (browser.losses > 0) {
        browser.losses -= 1;
        continue;
      }
      const copy = structuredClone(data);
      setTimeout(() => other.tab.run(() => browser.channels.has(other) && other.onmessage?.({ data: copy })), 1);
    }
  }

  close(): void {
    this.tab.browser.channels.delete(this);
  }
}

/** A tab. */
export class FakeTab {
  readonly browser: FakeBrowser;
  readonly listeners: FakeListener[] = [];
  readonly errors: unknown[] = [];
  readonly #target = new EventTarget();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #subscribe: typeof subscribe;
  /** What has happened while the tab was suspended. */
  readonly #tasks: Task[] = [];
  /** `gone` after the tab was closed or has crashed. */
  #state: "running" | "suspended" | "gone" = "running";
  isHidden: boolean;
  /** The event that the tab receives when it continues. */
  #resumeEvent: Event | undefined;

  constructor(browser: FakeBrowser, script: Script, isHidden: boolean) {
    this.browser = browser;
    this.isHidden = isHidden;
    const result = script.runInContext(createContext(this.#globals())) as { subscribe: typeof subscribe }; // what it exports
    this.#subscribe = result.subscribe;
  }

  get isGone(): boolean {
    return this.#state === "gone";
  }

  get isSuspended(): boolean {
    return this.#state === "suspended";
  }

  get isVisible(): boolean {
    return this.#state === "running" && !this.isHidden;
  }

  /** Runs a task of the tab, or keeps it until the tab continues. */
  run(task: Task): void {
    if (this.#state === "running") task();
    else if (this.#state === "suspended") this.#tasks.push(task);
  }

  subscribe(channel: string, tag: string = this.browser.signIn): FakeListener {
    const from = this.browser.count(channel);
    const text = formatFeedText({ expiresAt: 2_000_000_000, tag, position: `e.${from}`, channel });
    const feed = Buffer.concat([Buffer.from(text), Buffer.alloc(16, 0xe2)]).toString("base64url");
    const received: number[] = [];
    const gaps: string[] = [];
    const stop = this.#subscribe(feed as Parameters<typeof subscribe<number>>[0], (n) => received.push(n), {
      gap: (reason) => gaps.push(reason),
    });
    const listener = { channel, from, received, gaps, stop, isStopped: false };
    this.listeners.push(listener);
    return listener;
  }

  /** Closes the tab, or leaves the page. */
  close(): void {
    this.#emit("pagehide", { persisted: false });
    this.crash();
  }

  /** Ends the tab without any event. */
  crash(): void {
    this.#state = "gone";
    for (const timer of this.#timers) clearTimeout(timer);
    for (const channel of this.browser.channels) if (channel.tab === this) channel.close();
    for (const stream of [...this.browser.streams]) if (stream.tab === this) this.browser.close(stream);
    this.browser.locks.release(this);
  }

  /** Suspends the tab: `freeze` and `keep` (in the back/forward cache) with their events, `alert` without one. */
  suspend(kind: "freeze" | "keep" | "alert"): void {
    if (this.#state !== "running") return;
    if (kind === "freeze") {
      this.#emit("freeze");
      this.#resumeEvent = new Event("resume");
    } else if (kind === "keep") {
      this.#emit("pagehide", { persisted: true });
      this.#resumeEvent = Object.assign(new Event("pageshow"), { persisted: true });
    } else this.#resumeEvent = undefined;
    this.#state = "suspended";
  }

  /** Continues after {@link suspend}. */
  resume(): void {
    if (this.#state !== "suspended") return;
    this.#state = "running";
    if (this.#resumeEvent) this.#target.dispatchEvent(this.#resumeEvent);
    for (const task of this.#tasks.splice(0)) this.run(task);
  }

  setHidden(isHidden: boolean): void {
    this.isHidden = isHidden;
    this.run(() => this.#emit("visibilitychange"));
  }

  /** The network is there again. */
  goOnline(): void {
    this.run(() => this.#emit("online"));
  }

  #emit(type: string, properties: object = {}): void {
    this.#target.dispatchEvent(Object.assign(new Event(type), properties));
  }

  #globals(): object {
    const { browser } = this;
    const tab = this;
    const addEventListener = this.#target.addEventListener.bind(this.#target);
    const openedAt = performance.now();
    const pageData = JSON.stringify({ base: "", views: [], tag: browser.signIn });
    const locks = {
      request: (name: string, options: LockOptions, callback: LockCallback) =>
        browser.locks.request(this, name, options, callback),
    };
    class BroadcastChannel extends FakeChannel {
      constructor(name: string) {
        super(tab, name);
      }
    }
    return {
      addEventListener,
      document: {
        addEventListener,
        get hidden() {
          return tab.isHidden;
        },
        querySelector: () => ({ textContent: pageData }),
      },
      navigator: browser.options.hasLocks === false ? {} : { locks },
      performance: {
        now: () => performance.now() - openedAt,
        getEntriesByType: () => [{ nextHopProtocol: "http/1.1", type: "navigate" }],
      },
      BroadcastChannel,
      loadChunk: () => browser.loadChunk(this),
      fetch: (url: string, init: Parameters<FakeBrowser["fetch"]>[2]) => browser.fetch(this, url, init),
      setTimeout: (fn: Task, ms: number) => this.#startTimer(fn, ms, setTimeout),
      setInterval: (fn: Task, ms: number) => this.#startTimer(fn, ms, setInterval),
      clearTimeout,
      clearInterval,
      reportError: (error: unknown) => this.errors.push(error),
      console,
      AbortController,
      TextDecoder,
      Uint8Array,
      atob,
    };
  }

  #startTimer(fn: Task, ms: number, start: (fn: Task, ms: number) => NodeJS.Timeout): NodeJS.Timeout {
    const timer = start(() => this.run(fn), ms);
    this.#timers.add(timer);
    return timer;
  }
}
