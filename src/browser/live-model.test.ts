/**
 * Complete, once and in order, whatever happens: a model of the server that cuts, delays, refuses and
 * says things twice, and a page that comes and goes. What each listener got is compared with what the
 * model holds.
 */
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { feedOf } from "#test/live-feed";
import { LivePage, type LiveRequest, say } from "#test/live-page";

const CHANNELS = ["a", "b", "c"] as const;
type Channel = (typeof CHANNELS)[number];

/** What may happen next. */
type Step =
  | { readonly type: "publish" | "subscribe" | "stop"; readonly channel: Channel }
  | { readonly type: "cut" | "end" | "refuse" | "silence" | "online" | "hide" | "show" | "answer" }
  | { readonly type: "half"; readonly bytes: number };

const steps = fc.array(
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
          ...(["cut", "end", "refuse", "silence", "online", "hide", "show"] as const satisfies readonly Step["type"][]),
        ),
      }),
    },
    { weight: 2, arbitrary: fc.record({ type: fc.constant("half" as const), bytes: fc.nat(60) }) },
  ),
  { maxLength: 60 },
);

/** A listener of the page, and what it got. */
interface Heard {
  readonly channel: Channel;
  /** How many messages there were when its feed was issued. */
  readonly from: number;
  readonly got: number[];
  readonly stop: () => void;
  isStopped: boolean;
}

/** The server: how many messages each channel has, the nth of them being `n`; and how far it went on each request. */
class Model {
  readonly #page: LivePage;
  readonly #counts: Record<Channel, number> = { a: 0, b: 0, c: 0 };
  readonly #sent = new Map<LiveRequest, number[]>();
  readonly heard: Heard[] = [];

  constructor(page: LivePage) {
    this.#page = page;
  }

  async take(step: Step): Promise<void> {
    const request = this.#page.requests.at(-1);
    const isDone = !request || request.aborted.aborted;
    switch (step.type) {
      case "publish":
        this.#counts[step.channel] += 1;
        break;
      case "subscribe":
        this.#subscribe(step.channel);
        break;
      case "stop": {
        const heard = this.heard.find(({ channel, isStopped }) => channel === step.channel && !isStopped);
        if (heard) heard.isStopped = true;
        heard?.stop();
        break;
      }
      case "answer":
        if (!isDone) this.#answer(request);
        break;
      case "half":
        if (!isDone && this.#isStream(request)) this.#half(request, step.bytes);
        break;
      case "cut":
        if (!isDone) this.#isOpen(request) ? request.cut() : request.fail();
        break;
      case "end":
        if (!isDone && this.#isOpen(request)) request.end();
        break;
      case "refuse":
        if (!isDone) request.json({ error: {} }, 503);
        break;
      case "silence":
        await this.#page.pass(46_000);
        break;
      case "online":
        this.#page.emit("online");
        break;
      case "hide":
        this.#page.hide();
        await this.#page.pass(31_000);
        break;
      case "show":
        this.#page.show();
        break;
      default:
        step satisfies never;
    }
    await this.#page.pass(10);
  }

  /** Lets all come that is to come. */
  async settle(): Promise<void> {
    this.#page.show();
    for (let n = 0; n < 12; n++) {
      await this.#page.pass(31_000);
      await this.take({ type: "answer" });
    }
  }

  expected({ channel, from }: Heard): number[] {
    return Array.from({ length: this.#counts[channel] - from }, (_, n) => from + n + 1);
  }

  #subscribe(channel: Channel): void {
    const from = this.#counts[channel];
    const got: number[] = [];
    const feed = feedOf<number>(channel, { position: `e.${from}` });
    const stop = this.#page.subscribe(feed, (n) => got.push(n));
    this.heard.push({ channel, from, got, stop, isStopped: false });
  }

  #isStream(request: LiveRequest): boolean {
    return request.kind === "/__web/live";
  }

  #isOpen(request: LiveRequest): boolean {
    return this.#isStream(request) && this.#sent.has(request);
  }

  #answer(request: LiveRequest): void {
    if (this.#isStream(request)) request.push(this.#frames(request));
    else if (!this.#sent.has(request)) this.#poll(request);
  }

  /** Sends a part of what there is, and is cut. */
  #half(request: LiveRequest, bytes: number): void {
    const text = this.#frames(request);
    request.push(text.slice(0, bytes));
    void this.#page.pass(5).then(() => request.cut());
  }

  #cursor(request: LiveRequest): number[] {
    return (request.after ?? "").split(",").map((position) => Number(position.slice(2)));
  }

  #channels(request: LiveRequest): Channel[] {
    return request.feeds.map((feed) => Buffer.from(feed, "base64url").toString().split("\n")[2] as Channel);
  }

  #frames(request: LiveRequest): string {
    if (!this.#sent.has(request)) request.open();
    const cursor = this.#sent.get(request) ?? this.#cursor(request);
    this.#sent.set(request, cursor);
    let text = "";
    this.#channels(request).forEach((channel, i) => {
      for (let n = cursor[i] ?? 0; n < this.#counts[channel]; ) {
        cursor[i] = ++n;
        text += say.message(cursor.map((each) => `e.${each}`).join(), channel, n);
      }
    });
    return text || say.ping;
  }

  #poll(request: LiveRequest): void {
    const cursor = this.#cursor(request);
    this.#sent.set(request, cursor);
    const events: [Channel, number][] = [];
    this.#channels(request).forEach((channel, i) => {
      for (let n = cursor[i] ?? 0; n < this.#counts[channel]; ) {
        cursor[i] = ++n;
        events.push([channel, n]);
      }
    });
    request.json({ events, gaps: [], cursor: cursor.map((each) => `e.${each}`).join() });
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test("every listener gets all since its feed was issued, once and in order", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom("h2", "http/1.1"), async (happenings, protocol) => {
      const page = await LivePage.open({ protocol });
      const model = new Model(page);
      await model.take({ type: "subscribe", channel: "a" });
      for (const step of happenings) {
        await model.take(step);
        for (const heard of model.heard) expect(heard.got).toEqual(model.expected(heard).slice(0, heard.got.length));
      }
      await model.settle();
      for (const heard of model.heard) if (!heard.isStopped) expect(heard.got).toEqual(model.expected(heard));
      expect(page.said).toEqual([]);
      for (const { stop } of model.heard) stop();
      await page.pass(100);
    }),
    { numRuns: 200 },
  );
});
