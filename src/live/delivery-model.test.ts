/**
 * Event streams and polls against a model: a bus on which all channels share one history, with progress of quiet channels, lost
 * notifications and a history that is trimmed, and clients that disconnect and resume at any moment.
 */
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { FakeClient } from "#test/event-stream-client";
import { requestContextOf } from "#test/request-context";
import type { Bus, ReadLimit, ReadResult } from "../backends/index.ts";
import { createEventParser } from "../protocol/index.ts";
import { EventStream } from "./event-stream.ts";
import { ENDED } from "./feed.ts";
import { FeedReader } from "./feed-reader.ts";
import { handlePoll } from "./poll.ts";
import { SubscriptionHub } from "./subscription-hub.ts";

const CHANNELS = ["a", "b", "c"] as const;
type Listener = Parameters<Bus["watch"]>[1];

const positionAt = (sequence: number) => `e.${String(sequence).padStart(6, "0")}`;
const sequenceOf = (position: string) => Number(position.slice(2));
const settle = async () => {
  for (let turns = 0; turns < 12; turns++) await new Promise(setImmediate);
};

/** The model of a bus: entry `n` has the position `n + 1`, and a message has its position as data. */
class ModelBus {
  /** The channel of each entry; `null` for a barrier, which is of none. */
  readonly history: (string | null)[] = [];
  #trimmed = 0;
  readonly #listeners = new Map<string, Set<Listener>>();
  /** What the listeners have yet to be passed. */
  #pending: number[] = [];
  #hasLost = false;

  add(channel: string | null): void {
    this.history.push(channel);
    this.#pending.push(this.history.length);
  }

  /** Passes what is pending to the listeners, after a notice that something was lost, if it was. */
  deliver(): void {
    if (this.#hasLost) for (const listeners of this.#listeners.values()) for (const listener of listeners) listener();
    this.#hasLost = false;
    for (const sequence of this.#pending.splice(0)) {
      const channel = this.history[sequence - 1];
      const position = positionAt(sequence);
      for (const [name, listeners] of this.#listeners) {
        for (const listener of listeners) {
          if (channel === null) listener({ position });
          else if (channel === name) listener({ position, data: String(sequence) });
        }
      }
    }
  }

  lose(): void {
    this.#pending = [];
    this.#hasLost = true;
  }

  trim(): void {
    this.#trimmed = Math.max(0, this.history.length - 3);
  }

  /** Returns the sequence numbers of a channel's messages after one, up to another. */
  messages(channel: string, after: number, end = this.history.length): number[] {
    return this.history.flatMap((name, i) => (name === channel && i + 1 > after && i + 1 <= end ? [i + 1] : []));
  }

  async position(channels: readonly string[]): Promise<string[]> {
    return channels.map(() => positionAt(this.history.length));
  }

  async read(channel: string, after: string, limit: ReadLimit): Promise<ReadResult> {
    const from = sequenceOf(after);
    const end = this.history.length;
    const found = this.messages(channel, from).slice(0, Math.min(2, limit.messages));
    const more = this.messages(channel, from).length > found.length;
    const isTrimmed = from < this.#trimmed;
    await new Promise(setImmediate);
    if (isTrimmed) return { messages: [], gap: true, end: positionAt(end), more: false };
    const messages = found.map((sequence) => ({ position: positionAt(sequence), data: String(sequence) }));
    return { messages, gap: false, end: positionAt(more ? (found.at(-1) ?? end) : end), more };
  }

  async watch(channel: string, listener: Listener): Promise<() => void> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    return () => void listeners.delete(listener);
  }
}

/** A client as docs/protocol.md 10.10 describes it. It checks everything that it is told. */
class ModelClient {
  readonly received = new Map<string, number[]>(CHANNELS.map((channel) => [channel, []]));
  readonly positions: string[];
  readonly #bus: ModelBus;
  readonly #start: number;

  constructor(bus: ModelBus) {
    this.#bus = bus;
    this.#start = bus.history.length;
    this.positions = CHANNELS.map(() => positionAt(this.#start));
  }

  takeMessage(channel: string, data: unknown): void {
    this.received.get(channel)?.push(Number(data));
  }

  /** Takes the id of an event of a GET or a POST. */
  takeId(id: string, hasShortIds: boolean): void {
    if (!hasShortIds) {
      this.takeCursor(id);
      return;
    }
    for (const part of id.split(",")) {
      const [index, position = ""] = part.split("=");
      this.takePosition(Number(index), position);
    }
  }

  takeCursor(cursor: string): void {
    for (const [index, position] of cursor.split(",").entries()) this.takePosition(index, position);
  }

  /** Never a position before the last one, or after a message that was not received. */
  takePosition(index: number, position: string): void {
    const channel = CHANNELS[index] ?? "";
    const before = this.positions[index] ?? "";
    if (before === ENDED) expect(position).toBe(ENDED);
    this.positions[index] = position;
    if (position === ENDED) return;
    expect(sequenceOf(position)).toBeGreaterThanOrEqual(sequenceOf(before));
    expect(this.received.get(channel)).toEqual(this.#bus.messages(channel, this.#start, sequenceOf(position)));
  }

  /** Whether every channel is complete, or has a gap after messages that were complete so far. */
  checkComplete(): void {
    for (const [index, channel] of CHANNELS.entries()) {
      const all = this.#bus.messages(channel, this.#start);
      const received = this.received.get(channel) ?? [];
      expect(received).toEqual(this.positions[index] === ENDED ? all.slice(0, received.length) : all);
    }
  }
}

const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
const step = fc.constantFrom(
  ...CHANNELS,
  "a",
  "barrier",
  "quiet for a while",
  "quiet for a while",
  "deliver",
  "deliver",
  "lose",
  "trim",
  "settle",
  "ping",
  "resume",
  "resume late",
  "poll",
  "stall",
  "drain",
);

it.each([
  ["GET", false],
  ["POST", true],
])(
  "a client of %s is complete, once and in order, and is told no position before it has all up to it",
  async (_, hasShortIds) => {
    let pingIds = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: "max" }), async (steps) => {
        const bus = new ModelBus();
        bus.add("a");
        const hub = new SubscriptionHub(bus as unknown as Bus, log); // what it uses
        const client = new ModelClient(bus);
        const createReaders = () => CHANNELS.map((name, i) => new FeedReader(name, client.positions[i] ?? ""));

        let connection = new FakeClient();
        let stream: EventStream | undefined;
        let read = 0;
        let pings = 0;
        let parse = createEventParser();
        /** Processes what the server has written. */
        const receive = () => {
          for (const text of connection.writes.slice(read)) {
            for (const line of text.split("\n").slice(0, -1)) {
              const event = parse(line);
              if (!event) continue;
              const { event: type, id, data } = event;
              if (type === undefined && id !== undefined) client.takeMessage(data[0] ?? "", data[1]);
              if (type === "ping" && id !== undefined) pingIds++;
              if (id !== undefined) client.takeId(id, hasShortIds);
            }
          }
          read = connection.writes.length;
        };
        const disconnect = () => {
          connection.state = "destroyed";
          stream?.onClose();
          stream = undefined;
        };
        const connect = () => {
          disconnect();
          connection = new FakeClient();
          read = pings = 0;
          parse = createEventParser();
          stream = new EventStream(hub, connection, {
            readers: createReaders(),
            gaps: [],
            hasShortIds,
            onClosed: vi.fn(),
          });
        };
        const poll = async () => {
          disconnect();
          const request = { readers: createReaders(), gaps: [], hasShortIds, tokens: [], queries: [], waitSeconds: 0 };
          const response = await handlePoll(request, hub, {
            context: requestContextOf(new Request("http://a/")),
            isAboveLimit: false,
            presence: null,
            queries: null,
          });
          const { events, gaps, cursor } = JSON.parse(String(response.body));
          for (const [channel, message, id] of events) {
            client.takeMessage(channel, message);
            if (hasShortIds) client.takeId(id, true);
          }
          expect(gaps.length).toBe(
            cursor.split(",").filter((each: string) => each === ENDED).length -
              client.positions.filter((each) => each === ENDED).length,
          );
          client.takeCursor(cursor);
          connect();
        };

        connect();
        for (const each of steps) {
          if (each === "barrier") bus.add(null);
          else if (each === "quiet for a while") {
            await settle();
            bus.add(null);
            bus.deliver();
            stream?.tick(performance.now() + 21_000 * ++pings);
          } else if (each === "deliver") bus.deliver();
          else if (each === "lose") bus.lose();
          else if (each === "trim") bus.trim();
          else if (each === "settle") await settle();
          else if (each === "ping") stream?.tick(performance.now() + 21_000 * ++pings);
          else if (each === "resume") {
            receive();
            connect();
          } else if (each === "resume late")
            connect(); // what was written last did not arrive
          else if (each === "poll") {
            receive();
            await poll();
          } else if (each === "stall") connection.isReading = false;
          else if (each === "drain") {
            connection.isReading = true;
            stream?.onDrain();
          } else bus.add(each);
          if (connection.state !== "open") connect();
        }
        connection.isReading = true;
        receive();
        connect();
        await settle();
        bus.lose();
        bus.deliver();
        for (let rounds = 0; rounds < 40; rounds++) await settle();
        receive();
        client.checkComplete();
        disconnect();
        hub.close();
      }),
      { numRuns: 250 },
    );
    expect(pingIds).toBeGreaterThan(100);
  },
);
