import { beforeEach, describe, expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { createProducerId, ForeignDataLog } from "../bus/index.ts";
import type { JetStreamContext, NatsConnector } from "./connector.ts";
import { formatMessageId, formatPosition, hashMessageId } from "./position.ts";
import { NatsReader } from "./reader.ts";
import { SeenMessages } from "./stream.ts";

const EPOCH = "0mwrgh91skk9p";
const PRODUCER = createProducerId();
const LIMIT = { messages: 10, bytes: 1_000 };

const idOf = (seq: number) => formatMessageId(PRODUCER, seq);
const offsetOf = (seq: number) => ({ seq, messageHash: hashMessageId(idOf(seq)) });
const positionOf = (seq: number) => formatPosition(EPOCH, offsetOf(seq));

/** The state of a server: it stores the messages of two subjects, `a` with odd sequences and `b` with even ones. */
interface ServerState {
  readonly first: number;
  readonly last: number;
  /** Sequences that it does not store although they are between those. */
  readonly lost?: readonly number[];
}

let fresh: ServerState;
/** The states of the servers that answer the next requests; then the fresh one does. */
let stale: (ServerState | undefined)[];
let seen: SeenMessages;
let isReplicated: boolean;
let version: string;
const confirmEnd = vi.fn(async () => fresh.last);
const recheckStream = vi.fn();
const verify = vi.fn(async () => undefined);

beforeEach(() => {
  vi.clearAllMocks();
  [fresh, stale, seen, isReplicated] = [{ first: 1, last: 20 }, [], new SeenMessages(), true];
  version = "2.11.0";
});

function has({ first, last, lost = [] }: ServerState, seq: number): boolean {
  return seq >= first && seq <= last && !lost.includes(seq);
}

type Query = { readonly seq?: number; readonly next_by_subj?: string; readonly last_by_subj?: string };

/** Returns the sequence of the message that a server returns for a query. */
function find(state: ServerState, { seq = 0, next_by_subj, last_by_subj }: Query): number | undefined {
  if (last_by_subj) return has(state, state.last) ? state.last : undefined;
  if (!next_by_subj) return has(state, seq) ? seq : undefined;
  for (let next = Math.max(seq, 1); next <= state.last; next++) {
    if (has(state, next) && (next % 2 === 1) === (next_by_subj === "a")) return next;
  }
  return undefined;
}

const streams = {
  async getMessage(_name: string, query: Query) {
    const seq = find(stale.shift() ?? fresh, query);
    if (seq === undefined) return null;
    return { seq, data: new Uint8Array(1), string: () => String(seq), header: { get: () => idOf(seq) } };
  },
  async info() {
    const { first, last } = stale.shift() ?? fresh;
    return { state: { first_seq: first, last_seq: last, messages: last - first + 1 } };
  },
};

/** The server creates no consumers, so that messages are read one by one. */
const consumers = { add: vi.fn(async () => Promise.reject(new Error("no leader"))) };

function openReader() {
  const stream = { seenIn: () => seen, confirmEnd, isReplicated };
  // The parts that the reader uses.
  const connector = { stream, recheckStream, verify } as unknown as NatsConnector;
  const foreignData = new ForeignDataLog(recordedLog().log, {});
  return new NatsReader("s", { connector, foreignData });
}

function read(subject: string, after: number, { position = positionOf(after), reader = openReader() } = {}) {
  const connection = { info: { version } };
  const context = { epoch: EPOCH, connection, manager: { streams, consumers } } as unknown as JetStreamContext;
  return reader.read(context, { subject, after: position, limit: LIMIT });
}

it.each([
  ["2.9.10", true, 0],
  ["2.10.25", true, 0],
  ["2.11.0", true, 1],
  ["2.9.10", false, 1],
])("reads batches from servers with equal copies: version %s, replicated %s", async (server, copies, requests) => {
  [version, isReplicated] = [server, copies];
  consumers.add.mockClear();
  await read("a", 1);
  expect(consumers.add).toHaveBeenCalledTimes(requests);
});

it("does not wait for a batch in each read while the server creates no consumers", async () => {
  const reader = openReader();
  for (const after of [2, 4]) expect((await read("a", after, { reader })).messages).toHaveLength((20 - after) / 2);
  expect(consumers.add).toHaveBeenCalledTimes(1);
  const now = vi.spyOn(performance, "now").mockReturnValueOnce(performance.now() + 6_000);
  await read("a", 2, { reader });
  now.mockRestore();
  expect(consumers.add).toHaveBeenCalledTimes(2);
});

const STALE = "earlier state of the stream s";
const OLDER: ServerState = { first: 1, last: 9 };

it("returns the messages after a position, checks the stream afterwards, and records what it has seen", async () => {
  expect((await read("a", 14)).messages.map(({ data }) => data)).toEqual(["15", "17", "19"]);
  expect(verify).toHaveBeenCalledTimes(1);
  expect([seen.endSeq, seen.lastOf("a")]).toEqual([19, 19]);
});

describe("an answer of a server that is behind", () => {
  it.each<[string, number, (ServerState | undefined)[]]>([
    ["the end of the stream, which this process has seen later", 5, [OLDER]],
    ["no next message, though this process has seen one", 9, [undefined, OLDER]],
    ["no message at the position", 14, [undefined, undefined, undefined, undefined, undefined, OLDER, OLDER]],
    [
      "no message at the position, which another server has",
      14,
      [undefined, undefined, undefined, undefined, undefined, OLDER],
    ],
  ])("is not believed: %s", async (_, after, answers) => {
    seen.record("a", offsetOf(19));
    seen.record("b", offsetOf(20));
    stale = answers;
    await expect(read("a", after)).rejects.toThrow(STALE);
    expect(recheckStream).toHaveBeenCalledTimes(1);
    expect((await read("a", after)).gap).toBe(false);
  });

  it("is not believed about a position that only the client knows, and most servers have", async () => {
    stale = [OLDER];
    await expect(read("a", 15)).rejects.toThrow(STALE);
    expect(confirmEnd).toHaveBeenCalledTimes(1);
    expect((await read("a", 15)).messages.map(({ data }) => data)).toEqual(["17", "19"]);
  });
});

describe("a gap", () => {
  it.each([
    [true, 1],
    [false, 0],
  ])(
    "is reported for a position after the end, which most servers confirm if there are copies (%s)",
    async (copies, calls) => {
      isReplicated = copies;
      expect(await read("a", 25)).toMatchObject({ gap: true, reset: true });
      expect(confirmEnd).toHaveBeenCalledTimes(calls);
    },
  );

  it("is reported for a message that was removed, and for one that was replaced", async () => {
    fresh = { first: 16, last: 20 };
    const removed = await read("a", 14);
    expect([removed.gap, removed.reset]).toEqual([true, undefined]);
    expect(await read("a", 17, { position: formatPosition(EPOCH, { ...offsetOf(16), seq: 17 }) })).toMatchObject({
      reset: true,
    });
  });

  it("is reported for a message that this process has seen, and that the server has lost in the middle of the stream", async () => {
    fresh = { first: 1, last: 20, lost: [19] };
    seen.record("a", offsetOf(19));
    const result = await read("a", 17);
    expect([result.gap, result.messages]).toEqual([true, []]);
    expect(confirmEnd).toHaveBeenCalledTimes(1);
  });

  it("is not missed if the stream was changed during the read", async () => {
    verify.mockRejectedValueOnce(new Error("The stream of NATS was created again, or set back."));
    await expect(read("a", 14)).rejects.toThrow("created again");
  });
});
