import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { createProducerId, ForeignDataLog } from "../bus/index.ts";
import type { JetStreamContext, NatsConnector } from "./connector.ts";
import { formatMessageId, formatPosition, hashMessageId } from "./position.ts";
import { NatsReader, readBatch } from "./reader.ts";
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
  const connector = { stream, recheckStream, verify } as unknown as NatsConnector; // what a reader uses of it
  const foreignData = new ForeignDataLog(recordedLog().log, {});
  return new NatsReader("s", { connector, foreignData });
}

function read(subject: string, after: number, { position = positionOf(after), reader = openReader() } = {}) {
  const connection = { info: { version } };
  // What a reader uses of it.
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

const REQUEST = { stream: "s", subject: "s.live.a", startSeq: 5, messages: 3, bytes: 1_000 };

afterEach(() => void vi.useRealTimers());

/** Opens a fake server that sends these replies to the request of a batch. A reply of undefined is a status. */
function fakeServer(replies: readonly (string | undefined)[]) {
  let receive: (error: Error | null, message: unknown) => void = () => undefined;
  const state = { isSubscribed: false };
  const requests: unknown[] = [];
  const deleteConsumer = vi.fn(async () => true);
  const add = vi.fn(async (_stream: string, _config: object) => ({ name: "c" }));
  const connection = {
    subscribe(_inbox: string, { callback }: { callback: typeof receive }) {
      receive = callback;
      state.isSubscribed = true;
      return { unsubscribe: () => Object.assign(state, { isSubscribed: false }) };
    },
    publish(subject: string, data: string) {
      requests.push([subject, JSON.parse(data)]);
      for (const reply of replies) {
        if (!state.isSubscribed) return;
        const headers = { get: () => `id ${reply?.split(".")[5]}` };
        receive(null, { reply, headers, data: new Uint8Array(4), string: () => "data" });
      }
    },
  };
  const context = {
    ...{ connection, createInbox: () => "inbox", manager: { consumers: { add, delete: deleteConsumer } } },
  } as unknown as JetStreamContext; // what a reader uses of it
  return { context, requests, add, deleteConsumer, state };
}

const delivery = (seq: number, count: number) => `$JS.ACK.s.c.1.${seq}.${count}.1.0`;
const seqs = (messages: readonly { seq: number }[] | null) => messages?.map(({ seq }) => seq);

it("reads the messages of one subject by a consumer that it deletes afterwards", async () => {
  const server = fakeServer([delivery(5, 1), delivery(8, 2), delivery(9, 3), delivery(10, 4)]);
  const messages = await readBatch(server.context, REQUEST);
  expect(messages?.map(({ seq, id, bytes, text }) => [seq, id, bytes, text()])).toEqual([
    [5, "id 5", 4, "data"],
    [8, "id 8", 4, "data"],
    [9, "id 9", 4, "data"],
  ]);
  expect(server.add).toHaveBeenCalledWith(
    "s",
    expect.objectContaining({ filter_subject: "s.live.a", opt_start_seq: 5, ack_policy: "none" }),
  );
  expect(server.requests).toEqual([["$JS.API.CONSUMER.MSG.NEXT.s.c", { batch: 3, max_bytes: 3_400, no_wait: true }]]);
  expect(server.deleteConsumer).toHaveBeenCalledWith("s", "c");
  expect(server.state.isSubscribed).toBe(false);
});

it.each([
  ["the server has no more", [delivery(5, 1), undefined], [5]],
  ["a delivery is missing", [delivery(5, 1), delivery(9, 3)], [5]],
  ["there is none", [undefined], []],
  ["a server that is behind delivers earlier ones", [delivery(3, 1), delivery(4, 2), delivery(5, 3)], []],
])("returns what was read before %s", async (_, replies, expected) => {
  expect(seqs(await readBatch(fakeServer(replies).context, REQUEST))).toEqual(expected);
});

it("returns what was read when the server stops sending", async () => {
  vi.useFakeTimers();
  const reading = readBatch(fakeServer([delivery(5, 1)]).context, REQUEST);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(seqs(await reading)).toEqual([5]);
});

it("returns null if the server creates no consumer, so that messages are read one by one", async () => {
  const { context, add, requests } = fakeServer([]);
  add.mockRejectedValueOnce(new Error("no leader"));
  expect(await readBatch(context, REQUEST)).toBeNull();
  expect(requests).toEqual([]);
});
