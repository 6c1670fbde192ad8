/**
 * Delivery is complete, once and in order (docs/protocol.md 10.8), under random failures: a model of the server cuts,
 * delays, rejects and repeats, and a page is hidden and shown. The messages of each listener are compared with the
 * model's.
 */
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { encodeEvent, FakePage, type PageRequest } from "#test/fake-page";
import { unsignedFeed } from "#test/unsigned-feed";

const CHANNELS = ["a", "b", "c"] as const;
type Channel = (typeof CHANNELS)[number];

/** An event of a run. */
type Action =
  | { readonly type: "publish" | "subscribe" | "stop"; readonly channel: Channel }
  | { readonly type: "cut" | "end" | "reject" | "silence" | "online" | "hide" | "show" | "answer" }
  | { readonly type: "half"; readonly bytes: number };

const actionLists = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ type: fc.constant("publish" as const), channel: fc.constantFrom(...CHANNELS) }),
    },
    { weight: 6, arbitrary: fc.record({ type: fc.constant("answer" as const) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constantFrom("subscribe" as const, "stop" as const),
        channel: fc.constantFrom(...CHANNELS),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constantFrom(
          ...([
            "cut",
            "end",
            "reject",
            "silence",
            "online",
            "hide",
            "show",
          ] as const satisfies readonly Action["type"][]),
        ),
      }),
    },
    { weight: 2, arbitrary: fc.record({ type: fc.constant("half" as const), bytes: fc.nat(60) }) },
  ),
  { maxLength: 60 },
);

/** A listener of the page, with the messages that it received. */
interface ModelListener {
  readonly channel: Channel;
  /** The number of messages when its feed was issued. */
  readonly from: number;
  readonly received: number[];
  readonly stop: () => void;
  isStopped: boolean;
}

/** A model of the server: the number of messages of each channel, where message n is `n`, and the cursor of each request. */
class Model {
  readonly #page: FakePage;
  readonly #counts: Record<Channel, number> = { a: 0, b: 0, c: 0 };
  readonly #sent = new Map<PageRequest, number[]>();
  readonly listeners: ModelListener[] = [];

  constructor(page: FakePage) {
    this.#page = page;
  }

  async perform(action: Action): Promise<void> {
    const request = this.#page.requests.at(-1);
    const isDone = !request || request.signal.aborted;
    switch (action.type) {
      case "publish":
        this.#counts[action.channel] += 1;
        break;
      case "subscribe":
        this.#subscribe(action.channel);
        break;
      case "stop": {
        const listener = this.listeners.find(({ channel, isStopped }) => channel === action.channel && !isStopped);
        if (listener) listener.isStopped = true;
        listener?.stop();
        break;
      }
      case "answer":
        if (!isDone) this.#answer(request);
        break;
      case "half":
        if (!isDone && this.#isStream(request)) this.#half(request, action.bytes);
        break;
      case "cut":
        if (!isDone) this.#isOpen(request) ? request.breakConnection() : request.fail();
        break;
      case "end":
        if (!isDone && this.#isOpen(request)) request.endBody();
        break;
      case "reject":
        if (!isDone) request.respondJson({ error: {} }, 503);
        break;
      case "silence":
        await this.#page.advance(46_000);
        break;
      case "online":
        this.#page.emit("online");
        break;
      case "hide":
        this.#page.hide();
        await this.#page.advance(31_000);
        break;
      case "show":
        this.#page.show();
        break;
      default:
        action satisfies never;
    }
    await this.#page.advance(10);
  }

  /** Delivers all messages. */
  async settle(): Promise<void> {
    this.#page.show();
    for (let n = 0; n < 12; n++) {
      await this.#page.advance(31_000);
      await this.perform({ type: "answer" });
    }
  }

  expected({ channel, from }: ModelListener): number[] {
    return Array.from({ length: this.#counts[channel] - from }, (_, n) => from + n + 1);
  }

  #subscribe(channel: Channel): void {
    const from = this.#counts[channel];
    const received: number[] = [];
    const feed = unsignedFeed<number>(channel, { position: `e.${from}` });
    const stop = this.#page.subscribe(feed, (n) => received.push(n));
    this.listeners.push({ channel, from, received, stop, isStopped: false });
  }

  #isStream(request: PageRequest): boolean {
    return request.path === "/__web/live";
  }

  #isOpen(request: PageRequest): boolean {
    return this.#isStream(request) && this.#sent.has(request);
  }

  #answer(request: PageRequest): void {
    if (this.#isStream(request)) request.push(this.#frames(request));
    else if (!this.#sent.has(request)) this.#poll(request);
  }

  /** Sends a part of the messages, then cuts the connection. */
  #half(request: PageRequest, bytes: number): void {
    const text = this.#frames(request);
    request.push(text.slice(0, bytes));
    void this.#page.advance(5).then(() => request.breakConnection());
  }

  #cursor(request: PageRequest): number[] {
    return (request.after ?? "").split(",").map((position) => Number(position.slice(2)));
  }

  #channels(request: PageRequest): Channel[] {
    return request.feeds.map((feed) => Buffer.from(feed, "base64url").toString().split("\n")[2] as Channel);
  }

  #frames(request: PageRequest): string {
    if (!this.#sent.has(request)) request.respondStream();
    const cursor = this.#sent.get(request) ?? this.#cursor(request);
    this.#sent.set(request, cursor);
    let text = "";
    this.#channels(request).forEach((channel, i) => {
      for (let n = cursor[i] ?? 0; n < this.#counts[channel]; ) {
        cursor[i] = ++n;
        text += encodeEvent.message(cursor.map((position) => `e.${position}`).join(), channel, n);
      }
    });
    return text || encodeEvent.ping;
  }

  #poll(request: PageRequest): void {
    const cursor = this.#cursor(request);
    this.#sent.set(request, cursor);
    const events: [Channel, number][] = [];
    this.#channels(request).forEach((channel, i) => {
      for (let n = cursor[i] ?? 0; n < this.#counts[channel]; ) {
        cursor[i] = ++n;
        events.push([channel, n]);
      }
    });
    request.respondJson({ events, gaps: [], cursor: cursor.map((position) => `e.${position}`).join() });
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("every listener receives every message since its feed was issued, once and in order", {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(actionLists, fc.constantFrom("h2", "http/1.1"), async (actions, protocol) => {
      const page = await FakePage.open({ protocol });
      const model = new Model(page);
      await model.perform({ type: "subscribe", channel: "a" });
      for (const action of actions) {
        await model.perform(action);
        for (const listener of model.listeners)
          expect(listener.received).toEqual(model.expected(listener).slice(0, listener.received.length));
      }
      await model.settle();
      for (const listener of model.listeners)
        if (!listener.isStopped) expect(listener.received).toEqual(model.expected(listener));
      expect(page.consoleErrors).toEqual([]);
      for (const { stop } of model.listeners) stop();
      await page.advance(100);
    }),
    { numRuns: 200 },
  );
});
