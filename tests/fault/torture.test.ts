/**
 * The harness of the torture run, run over buses and readers that are broken on purpose: each has to be found out.
 */
import { afterEach, describe, expect, it } from "vitest";
import { compiledServer } from "#test/compiled";
import { type LocalServer, listen } from "#test/listen";
import { type TortureResult, type TortureSize, torture } from "#test/torture";
import { faultsOfBus, faultsOfReading } from "#test/torture-check";
import { ledgerOf } from "#test/torture-ledger";
import { node } from "../../src/adapters/index.ts";
import { App } from "../../src/app.ts";
import type { Wake } from "../../src/live/bus/bus.ts";
import type { Batch, Bus, Message, Position } from "../../src/live/bus/index.ts";
import { memory } from "../../src/live/bus/memory.ts";
import { channel, publish, realtime } from "../../src/live/index.ts";

const SIZE = {
  channels: 3,
  messages: 300,
  readers: 8,
  publishers: 4,
  pauseMs: 10,
  visitMs: [20, 300],
  visits: 8,
} as const;

/** A bus over another, to be broken. */
class OverBus implements Bus {
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

  read(name: string, after: Position, limit: number): Promise<Batch> {
    return this.inner.read(name, after, limit);
  }

  watch(name: string, wake: Wake): Promise<() => void> {
    return this.inner.watch(name, wake);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

/** Changes what is read, every so often. */
class ReadingBus extends OverBus {
  readonly #change: (messages: readonly Message[], before: Message | undefined) => readonly Message[];
  readonly #last = new Map<string, Message>();

  constructor(inner: Bus, change: (messages: readonly Message[], before: Message | undefined) => readonly Message[]) {
    super(inner);
    this.#change = change;
  }

  override async read(name: string, after: Position, limit: number): Promise<Batch> {
    const batch = await super.read(name, after, limit);
    const before = this.#last.get(`${name} ${after}`);
    for (const message of batch.messages) this.#last.set(`${name} ${message.position}`, message);
    return { ...batch, messages: this.#change(batch.messages, before) };
  }

  // By reading alone: what comes with a wake-up is not changed.
  override watch(name: string, wake: Wake): Promise<() => void> {
    return super.watch(name, () => wake());
  }
}

/** Sends every fifth message again, as one does who had no answer, and nobody notices. */
class RepeatingBus extends OverBus {
  #count = 0;

  override async publish(name: string, data: string): Promise<Position> {
    const position = await super.publish(name, data);
    if (++this.#count % 5 === 0) await super.publish(name, data);
    return position;
  }
}

/** Says of every fifth message that it has it, and does not. */
class ForgettingBus extends OverBus {
  #count = 0;

  override async publish(name: string, data: string): Promise<Position> {
    if (++this.#count % 5 > 0) return super.publish(name, data);
    const [position = ""] = await super.position([name]);
    return position;
  }
}

/** Leaves every fifth wake-up out, and says of the next that nothing was left out. */
class SkippingBus extends OverBus {
  override watch(name: string, wake: Wake): Promise<() => void> {
    let count = 0;
    let end: Position | undefined;
    return super.watch(name, (fresh) => {
      if (!fresh) return wake();
      const told = end === undefined ? fresh : { ...fresh, after: end };
      end = fresh.messages.at(-1)?.position;
      if (++count % 5 > 0) return wake(told);
      end = fresh.after;
    });
  }
}

let server: LocalServer | undefined;
let app: App | undefined;

afterEach(async () => {
  await server?.close();
  await app?.close();
});

/** Runs a small torture through a process of this test, over a bus that was made to be broken. */
async function run(
  breaking: (inner: Bus) => Bus,
  { resume, size = SIZE }: { resume?: (cursor: string) => string; size?: TortureSize } = {},
): Promise<TortureResult> {
  const held = memory();
  const [from = ""] = await held.position(["any"]);
  realtime.use_bus(breaking(held));
  app = new App({ modules: [FUNCTIONS], rate: false, env: { WEB_MAX_STREAMS_PER_CLIENT: "1000" } });
  server = await listen(node(app));
  const { address } = server;
  const world = {
    entry: address,
    servers: [address, address],
    strikes: [],
    ledger: (channels: readonly string[]) => ledgerOfMemory(held, from, channels),
  };
  return torture(size, resume ? { ...world, resume } : world, 7);
}

const FUNCTIONS = {
  feeds: compiledServer("feeds", (names: string[]) => Promise.all(names.map((name) => channel(name))), {
    params: { names: "any" },
  }),
  say: compiledServer(
    "say",
    async (room: string, texts: string[]) => {
      const settled = await Promise.allSettled(texts.map((text) => publish(room, text)));
      return settled.map(({ status }) => status === "fulfilled");
    },
    { params: { room: "any", texts: "any" } },
  ),
};

async function ledgerOfMemory(bus: Bus, from: Position, channels: readonly string[]) {
  const numberOf = (position: string) => Number.parseInt(position.split(".")[1] ?? "", 36);
  const entries = channels.map(async (name) => {
    const { messages, more } = await bus.read(name, from, 100_000);
    expect(more).toBe(false);
    const held = messages.map(({ position, data }) => ({ number: numberOf(position), text: JSON.parse(data) }));
    return [name, held] as const;
  });
  return ledgerOf(new Map(await Promise.all(entries)), numberOf);
}

const kindsOf = ({ faults }: TortureResult) => [...new Set(faults.map(({ kind }) => kind))].toSorted();

/** Moves all positions of a cursor by so many messages. */
const moved = (by: number) => (cursor: string) =>
  cursor.replace(/\.(\w{9})/g, (_, digits) => `.${(Number.parseInt(digits, 36) + by).toString(36).padStart(9, "0")}`);

/** Does something once in five times. */
function now<T>(change: (messages: readonly T[], before: T | undefined) => readonly T[]) {
  let count = 0;
  return (messages: readonly T[], before: T | undefined) =>
    messages.length > 0 && ++count % 5 === 0 ? change(messages, before) : messages;
}

describe("the harness", () => {
  it("finds nothing wrong where nothing is", async () => {
    const result = await run((inner) => inner);
    expect(result.faults).toEqual([]);
    expect(result.published).toBe(303);
    expect(result.unknown).toBe(0);
    expect(result.delivered).toBeGreaterThan(1_000);
    expect(result.cut).toBeGreaterThan(8);
  });

  it("finds nothing wrong where messages are only ever read, and never come with a wake-up", async () => {
    const result = await run((inner) => new ReadingBus(inner, (messages) => messages));
    expect(result.faults).toEqual([]);
  });

  it.each<[string, (inner: Bus) => Bus, string[]]>([
    [
      "a position that is skipped",
      (inner) =>
        new ReadingBus(
          inner,
          now((all) => all.slice(1)),
        ),
      ["lost"],
    ],
    ["a wake-up that is lost, and nobody told", (inner) => new SkippingBus(inner), ["lost"]],
    [
      "a bus that reads on one too early",
      (inner) =>
        new ReadingBus(
          inner,
          now((all, before) => (before ? [before, ...all] : all)),
        ),
      ["twice"],
    ],
    ["a bus that turns messages round", (inner) => new ReadingBus(inner, (all) => all.toReversed()), ["order"]],
    ["a message that is sent again and not known again", (inner) => new RepeatingBus(inner), ["twice"]],
    ["a message that was taken and is not there", (inner) => new ForgettingBus(inner), ["lost"]],
  ])("catches %s", async (_, breaking, kinds) => {
    const result = await run(breaking);
    expect(kindsOf(result)).toEqual(expect.arrayContaining(kinds));
  });

  it.each([
    ["one too far", 1, "lost"],
    ["one too early", -1, "twice"],
  ] as const)("catches readers that come back %s", async (_, by, kind) => {
    const size = { ...SIZE, channels: 1 };
    expect(kindsOf(await run((inner) => inner, { size, resume: moved(by) }))).toContain(kind);
  });

  it("catches a gap that is told where there is none", async () => {
    let count = 0;
    const result = await run((inner) => inner, {
      resume: (cursor) => (++count % 5 === 0 ? `${cursor},surplus` : cursor),
    });
    expect(kindsOf(result)).toContain("gap");
  });
});

describe("what a reader got", () => {
  it.each([
    ["all of it", ["a", "b", "c"], []],
    ["nothing", [], ["lost", "lost", "lost"]],
    ["one less", ["a", "c"], ["lost"]],
    ["the last one less", ["a", "b"], ["lost"]],
    ["one twice", ["a", "b", "b", "c"], ["twice"]],
    ["an earlier one again at the end", ["a", "b", "c", "a"], ["twice"]],
    ["two in the wrong order", ["b", "a", "c"], ["order"]],
    ["what was not for it", ["z", "a", "b", "c"], ["foreign"]],
  ])("is compared with what it should have got: %s", (_, got, kinds) => {
    expect(faultsOfReading("here", ["a", "b", "c"], got).map(({ kind }) => kind)).toEqual(kinds);
  });
});

describe("what a bus holds", () => {
  const outcomes = ["a", "b", "c"].map((text) => ({ channel: "room", by: "one", text, isTaken: text !== "b" }));

  it.each([
    ["all of it", ["a", "b", "c"], []],
    ["without what nobody knew of", ["a", "c"], []],
    ["what nobody knew of, twice", ["a", "b", "b", "c"], ["twice"]],
    ["without what it took", ["a", "b"], ["lost"]],
    ["one's messages in the wrong order", ["b", "a", "c"], ["order"]],
    ["what nobody published", ["a", "b", "c", "d"], ["foreign"]],
  ])("is compared with what was published: %s", (_, held, kinds) => {
    expect(faultsOfBus("room", held, outcomes).map(({ kind }) => kind)).toEqual(kinds);
  });

  it("is in no order among those who published at once", () => {
    const others = outcomes.map((outcome) => ({ ...outcome, by: "other", text: `${outcome.text}2` }));
    const held = ["a2", "a", "b", "b2", "c2", "c"];
    expect(faultsOfBus("room", held, [...outcomes, ...others])).toEqual([]);
  });

  it("is a fault where it was published to another channel", () => {
    expect(faultsOfBus("other", ["a"], outcomes.slice(0, 1)).map(({ kind }) => kind)).toContain("foreign");
  });
});
