/**
 * The torture run itself, over buses and clients with deliberate faults: it has to detect each of them.
 */

import { afterEach, describe, expect, it } from "vitest";
import { compiledServer } from "#test/compiled-app";
import { type LocalServer, listen } from "#test/listen";
import { atMost } from "#test/read-limit";
import { createStoredMessages } from "#test/stored-messages";
import { type TortureResult, type TortureSize, torture } from "#test/torture";
import { findBusFaults, findReaderFaults } from "#test/torture-check";
import { node } from "../../src/adapters/index.ts";
import { App } from "../../src/app.ts";
import type { EntryListener } from "../../src/backends/bus/bus.ts";
import type { Bus, Message, Position, ReadLimit, ReadResult } from "../../src/backends/index.ts";
import { memory } from "../../src/backends/memory/bus.ts";
import { channel, publish } from "../../src/live/index.ts";
import { realtime } from "../../src/server/index.ts";

const SIZE = {
  channels: 3,
  messages: 300,
  readers: 8,
  publishers: 4,
  pauseMs: 10,
  connectionMs: [20, 300],
  minRequestsPerReader: 8,
} as const;

/** A bus that delegates to another one. */
class DelegatingBus implements Bus {
  protected readonly inner: Bus;

  constructor(inner: Bus) {
    this.inner = inner;
  }

  publish(name: string, data: string): Promise<Position> {
    return this.inner.publish(name, data);
  }

  position(names: readonly string[]): Promise<Position[]> {
    return this.inner.position(names);
  }

  read(name: string, after: Position, limit: ReadLimit): Promise<ReadResult> {
    return this.inner.read(name, after, limit);
  }

  watch(name: string, listener: EntryListener): Promise<() => void> {
    return this.inner.watch(name, listener);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

/**
 * Changes the messages of a read.
 *
 * @param previous the message at the position that the read started after
 */
type ChangeMessages = (messages: readonly Message[], previous: Message | undefined) => readonly Message[];

/** A bus whose reads are changed. */
class ChangedReadsBus extends DelegatingBus {
  readonly #change: ChangeMessages;
  readonly #messages = new Map<string, Message>();

  constructor(inner: Bus, change: ChangeMessages) {
    super(inner);
    this.#change = change;
  }

  override async read(name: string, after: Position, limit: ReadLimit): Promise<ReadResult> {
    const result = await super.read(name, after, limit);
    const previous = this.#messages.get(`${name} ${after}`);
    for (const message of result.messages) this.#messages.set(`${name} ${message.position}`, message);
    return { ...result, messages: this.#change(result.messages, previous) };
  }

  // Without entries, so that all messages are read.
  override watch(name: string, listener: EntryListener): Promise<() => void> {
    return super.watch(name, () => listener());
  }
}

/** A bus that stores every fifth message twice, as after a retry without deduplication. */
class DuplicatingBus extends DelegatingBus {
  #count = 0;

  override async publish(name: string, data: string): Promise<Position> {
    const position = await super.publish(name, data);
    if (++this.#count % 5 === 0) await super.publish(name, data);
    return position;
  }
}

/** A bus that acknowledges every fifth message without storing it. */
class LosingBus extends DelegatingBus {
  #count = 0;

  override async publish(name: string, data: string): Promise<Position> {
    if (++this.#count % 5 > 0) return super.publish(name, data);
    const [position = ""] = await super.position([name]);
    return position;
  }
}

/** A bus that omits every fifth entry, and changes the next one so that no message seems to be missing. */
class SkippingBus extends DelegatingBus {
  override watch(name: string, listener: EntryListener): Promise<() => void> {
    let count = 0;
    return super.watch(name, (entry) => {
      if (entry?.data === undefined) return listener(entry);
      const { after: _, ...changed } = entry;
      if (++count % 5 > 0) listener(changed);
    });
  }
}

let server: LocalServer | undefined;
let app: App | undefined;

afterEach(async () => {
  await server?.close();
  await app?.close();
});

/** Runs a small torture run in this process, over a bus with a fault. */
async function run(
  addFault: (inner: Bus) => Bus,
  { changeCursor, size = SIZE }: { changeCursor?: (cursor: string) => string; size?: TortureSize } = {},
): Promise<TortureResult> {
  const inner = memory();
  const [from = ""] = await inner.position(["any"]);
  realtime.use_bus(addFault(inner));
  app = new App({ modules: [FUNCTIONS], rate: false, env: { WEB_MAX_STREAMS_PER_CLIENT: "1000" } });
  server = await listen(node(app));
  const { address } = server;
  const environment = {
    origin: address,
    servers: [address, address],
    faultInjections: [],
    readStoredMessages: (channels: readonly string[]) => readMemoryMessages(inner, from, channels),
  };
  return torture(size, changeCursor ? { ...environment, changeCursor } : environment, 7);
}

const FUNCTIONS = {
  issue_feeds: compiledServer("issue_feeds", (names: string[]) => Promise.all(names.map((name) => channel(name))), {
    params: { names: "any" },
  }),
  publish_texts: compiledServer(
    "publish_texts",
    async (room: string, texts: string[]) => {
      const settled = await Promise.allSettled(texts.map((text) => publish(room, text)));
      return settled.map(({ status }) => status === "fulfilled");
    },
    { params: { room: "any", texts: "any" } },
  ),
};

async function readMemoryMessages(bus: Bus, from: Position, channels: readonly string[]) {
  const sequenceOf = (position: string) => Number.parseInt(position.split(".")[1] ?? "", 36);
  const entries = channels.map(async (name) => {
    const { messages, more } = await bus.read(name, from, atMost(100_000));
    expect(more).toBe(false);
    const stored = messages.map(({ position, data }) => ({ sequence: sequenceOf(position), text: JSON.parse(data) }));
    return [name, stored] as const;
  });
  return createStoredMessages(new Map(await Promise.all(entries)), sequenceOf);
}

const kindsOf = ({ faults }: TortureResult) => [...new Set(faults.map(({ kind }) => kind))].toSorted();

/** Returns a function that moves all positions of a cursor by a number of messages. */
const moveCursor = (by: number) => (cursor: string) =>
  cursor.replace(/\.(\w{9})/g, (_, digits) => `.${(Number.parseInt(digits, 36) + by).toString(36).padStart(9, "0")}`);

/** Returns a function that changes every fifth read with messages. */
function everyFifth(change: ChangeMessages): ChangeMessages {
  let count = 0;
  return (messages, previous) => (messages.length > 0 && ++count % 5 === 0 ? change(messages, previous) : messages);
}

describe("the torture run", () => {
  it("reports no fault of a bus without faults", async () => {
    const result = await run((inner) => inner);
    expect(result.faults).toEqual([]);
    expect(result.published).toBe(303);
    expect(result.unknown).toBe(0);
    expect(result.delivered).toBeGreaterThan(1_000);
    expect(result.aborted).toBeGreaterThan(8);
  });

  it("reports no fault of a bus that passes no entries to its listeners", async () => {
    const result = await run((inner) => new ChangedReadsBus(inner, (messages) => messages));
    expect(result.faults).toEqual([]);
  });

  it.each<[string, (inner: Bus) => Bus, string[]]>([
    [
      "a bus whose reads omit a message",
      (inner) =>
        new ChangedReadsBus(
          inner,
          everyFifth((messages) => messages.slice(1)),
        ),
      ["lost"],
    ],
    ["a bus that omits an entry", (inner) => new SkippingBus(inner), ["lost"]],
    [
      "a bus whose reads start one message too early",
      (inner) =>
        new ChangedReadsBus(
          inner,
          everyFifth((messages, previous) => (previous ? [previous, ...messages] : messages)),
        ),
      ["duplicate"],
    ],
    [
      "a bus whose reads reverse the order",
      (inner) => new ChangedReadsBus(inner, (messages) => messages.toReversed()),
      ["order"],
    ],
    ["a bus that stores a message twice", (inner) => new DuplicatingBus(inner), ["duplicate"]],
    ["a bus that acknowledges a message without storing it", (inner) => new LosingBus(inner), ["lost"]],
  ])("detects the faults of %s", async (_, addFault, kinds) => {
    const result = await run(addFault);
    expect(kindsOf(result)).toEqual(expect.arrayContaining(kinds));
  });

  it.each([
    ["one message too late", 1, "lost"],
    ["one message too early", -1, "duplicate"],
  ] as const)("detects the faults of clients that resume %s", async (_, by, kind) => {
    const size = { ...SIZE, channels: 1 };
    expect(kindsOf(await run((inner) => inner, { size, changeCursor: moveCursor(by) }))).toContain(kind);
  });

  it("detects a gap although all messages are stored", async () => {
    let count = 0;
    const result = await run((inner) => inner, {
      changeCursor: (cursor) => (++count % 5 === 0 ? `${cursor},surplus` : cursor),
    });
    expect(kindsOf(result)).toContain("gap");
  });
});

describe("findReaderFaults", () => {
  it.each([
    ["no fault if every message was received", ["a", "b", "c"], []],
    ["every message as lost if none was received", [], ["lost", "lost", "lost"]],
    ["a missing message as lost", ["a", "c"], ["lost"]],
    ["a missing last message as lost", ["a", "b"], ["lost"]],
    ["a repeated message as duplicate", ["a", "b", "b", "c"], ["duplicate"]],
    ["a message that is repeated at the end as duplicate", ["a", "b", "c", "a"], ["duplicate"]],
    ["two exchanged messages as order", ["b", "a", "c"], ["order"]],
    ["a message from before the feed's position as unexpected", ["z", "a", "b", "c"], ["unexpected"]],
  ])("reports %s", (_, received, kinds) => {
    expect(findReaderFaults("here", ["a", "b", "c"], received).map(({ kind }) => kind)).toEqual(kinds);
  });
});

describe("findBusFaults", () => {
  const outcomes = ["a", "b", "c"].map((text) => ({
    channel: "room",
    publisher: "one",
    text,
    isAcknowledged: text !== "b",
  }));

  it.each([
    ["no fault if every message is stored", ["a", "b", "c"], []],
    ["no fault if a message that was not acknowledged is missing", ["a", "c"], []],
    ["a message that was not acknowledged and is stored twice as duplicate", ["a", "b", "b", "c"], ["duplicate"]],
    ["a missing message that was acknowledged as lost", ["a", "b"], ["lost"]],
    ["exchanged messages of one publisher as order", ["b", "a", "c"], ["order"]],
    ["a message that was not published as unexpected", ["a", "b", "c", "d"], ["unexpected"]],
  ])("reports %s", (_, stored, kinds) => {
    expect(findBusFaults("room", stored, outcomes).map(({ kind }) => kind)).toEqual(kinds);
  });

  it("accepts any order between the messages of two publishers", () => {
    const others = outcomes.map((outcome) => ({ ...outcome, publisher: "other", text: `${outcome.text}2` }));
    const stored = ["a2", "a", "b", "b2", "c2", "c"];
    expect(findBusFaults("room", stored, [...outcomes, ...others])).toEqual([]);
  });

  it("reports a message that is stored in another channel as unexpected", () => {
    expect(findBusFaults("other", ["a"], outcomes.slice(0, 1)).map(({ kind }) => kind)).toContain("unexpected");
  });
});
