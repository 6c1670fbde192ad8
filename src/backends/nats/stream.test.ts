import { expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { hashMessageId, type StreamOffset } from "./position.ts";
import { NatsStream, type StreamContext } from "./stream.ts";

const CONFIG = { name: "s", subjects: ["s.*"], max_msgs_per_subject: -1 };

/** The offset of the message `<name><seq>`. */
const offset = (seq: number, name = "message "): StreamOffset => ({ seq, messageHash: hashMessageId(name + seq) });

/** Opens a stream on a fake server, whose messages the test changes. */
function openStream(replicas = 1) {
  const { log, lines } = recordedLog();
  const stream = new NatsStream(CONFIG, { nats: "host:1", log, markerSubject: "s.-" });
  const config: object = {
    ...CONFIG,
    num_replicas: replicas,
    retention: "limits",
    discard: "old",
    deny_delete: true,
    deny_purge: true,
  };
  const server = {
    created: "2026-11-21T11:43:55Z",
    description: "",
    messages: [] as string[],
    settings: {},
    /** The messages of a server that answers instead, for as many answers. */
    stale: { messages: [] as string[], answers: 0 },
    /** Called after the state was read, before it is returned. */
    whileResponding() {},
  };
  const streams = {
    async info() {
      const { created, description, settings, stale } = server;
      const messages = stale.answers-- > 0 ? stale.messages : server.messages;
      const info = { created, config: { ...config, ...settings, description }, state: { last_seq: messages.length } };
      server.whileResponding();
      return info;
    },
    async update(_name: string, { description }: { description: string }) {
      server.description = description;
    },
    async getMessage(_name: string, { seq }: { seq: number }) {
      const id = server.messages[seq - 1];
      return id === undefined ? null : { header: { get: () => id } };
    },
  };
  const publish = vi.fn(async (_subject: string, _data: string, { msgID }: { msgID: string }) => ({
    seq: server.messages.push(msgID),
  }));
  // The parts that the stream uses.
  const context = { manager: { streams }, jetStream: { publish }, replicas } as unknown as StreamContext;
  const open = () => stream.open(context);
  /** Stores messages up to a sequence, and records that this process has seen the last one. */
  const store = (epoch: string, seq: number) => {
    while (server.messages.length < seq) server.messages.push(`message ${server.messages.length + 1}`);
    stream.seenIn(epoch).record("s.a", offset(seq));
  };
  return { server, stream, open, store, publish, context, warnings: () => lines.map(({ message }) => message) };
}

it("keeps its epoch while messages are stored, also those that arrive during the request for its state", async () => {
  const { server, open, store, warnings } = openStream();
  const epoch = await open();
  store(epoch, 8);
  server.whileResponding = () => store(epoch, 12);
  expect(await open()).toBe(epoch);
  expect(await open()).toBe(epoch);
  expect(warnings()).toEqual([]);
});

it.each([
  ["lacks the last message that this process has seen", (messages: string[]) => messages.splice(7)],
  ["has another message in its place", (messages: string[]) => messages.splice(7, 2, "another 8", "another 9")],
])("starts a new epoch with a warning if it %s", async (_, lose) => {
  const { server, open, store, warnings } = openStream();
  const epoch = await open();
  store(epoch, 8);
  lose(server.messages);
  const next = await open();
  expect(next > epoch).toBe(true);
  expect(warnings()).toEqual(["The stream was set back to an earlier state; feeds get a gap"]);
  expect(await open()).toBe(next);
});

it("starts a new epoch for each loss, also after a late response of the epoch before", async () => {
  const { server, stream, open, store, warnings } = openStream();
  const epoch = await open();
  store(epoch, 8);
  server.messages.splice(7);
  const next = await open();
  store(next, 9);
  stream.seenIn(epoch).record("s.a", offset(10));
  server.messages.splice(7);
  expect((await open()) > next).toBe(true);
  expect(warnings()).toHaveLength(2);
});

it("keeps its epoch when a server of a cluster answers with an earlier state, and confirms that by a message", async () => {
  const { server, open, store, publish, warnings } = openStream(3);
  const epoch = await open();
  store(epoch, 8);
  server.stale = { messages: server.messages.slice(0, 5), answers: 1 };
  expect(await open()).toBe(epoch);
  expect(publish).toHaveBeenCalledExactlyOnceWith("s.-", "", { msgID: expect.stringMatching(/^[\w-]{22}\.1$/) });
  expect(warnings()).toEqual([]);
});

it("stores at most one message a second for positions ahead of the end, which clients can send [LIVE-19]", async () => {
  vi.useFakeTimers();
  try {
    const { stream, open, publish, context } = openStream(3);
    await open();
    for (let ms = 0; ms < 5_000; ms += 100) {
      for (let client = 0; client < 20; client++) void stream.confirmEnd(context);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(publish.mock.calls.length).toBeGreaterThan(1);
    expect(publish.mock.calls.length).toBeLessThanOrEqual(6);
  } finally {
    vi.useRealTimers();
  }
});

it("starts a new epoch if the stream of a cluster was set back", async () => {
  const { server, open, store, publish } = openStream(3);
  const epoch = await open();
  store(epoch, 8);
  server.messages.splice(5);
  expect((await open()) > epoch).toBe(true);
  expect(publish).toHaveBeenCalledTimes(1);
});

it("does not believe an answer with an earlier epoch than the last one", async () => {
  const { server, open, store } = openStream(3);
  const epoch = await open();
  store(epoch, 8);
  server.messages.splice(5);
  const next = await open();
  const { description } = server;
  server.description = "";
  await expect(open()).rejects.toThrow("earlier state of the stream s");
  server.description = description;
  expect(await open()).toBe(next);
});

it("refuses settings with which the stream can lose messages, and starts a new epoch when they are corrected", async () => {
  const { server, stream, open, context, warnings } = openStream();
  const epoch = await open();
  expect(await stream.isUnchanged(context)).toBe(true);
  server.settings = { max_msgs_per_subject: 1 };
  await expect(stream.isUnchanged(context)).rejects.toThrow("max_msgs_per_subject");
  await expect(open()).rejects.toThrow("max_msgs_per_subject");
  server.settings = {};
  const next = await open();
  expect(next > epoch).toBe(true);
  expect(warnings()).toEqual(["The stream had settings with which it can lose messages; feeds get a gap"]);
  expect(await open()).toBe(next);
  expect(await stream.isUnchanged(context)).toBe(true);
  server.created = "2027-11-21T11:43:55Z";
  expect(await stream.isUnchanged(context)).toBe(false);
});
