import type { JetStreamManager } from "@nats-io/jetstream";
import { expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { hashMessageId, type StreamOffset } from "./nats-position.ts";
import { NatsStream } from "./nats-stream.ts";

const CONFIG = { name: "s", subjects: ["s.*"], max_msgs_per_subject: -1 };

/** The offset of the message `<name><seq>`. */
const offset = (seq: number, name = "message "): StreamOffset => ({ seq, messageHash: hashMessageId(name + seq) });

/** Opens a stream on a fake server, whose messages the test changes. */
function openStream() {
  const { log, lines } = recordedLog();
  const stream = new NatsStream(CONFIG, { nats: "host:1", log });
  const config = { ...CONFIG, retention: "limits", discard: "old", deny_delete: true, deny_purge: true };
  const server = {
    created: "2026-11-21T11:43:55Z",
    description: "",
    messages: [] as string[],
    /** Called after the state was read, before it is returned. */
    whileResponding() {},
  };
  const streams = {
    async info() {
      const { created, description, messages } = server;
      const info = { created, config: { ...config, description }, state: { last_seq: messages.length } };
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
  const open = () => stream.open({ streams } as unknown as JetStreamManager, 1); // the parts that the stream uses
  /** Stores messages up to a sequence, and records that this process has seen the last one. */
  const store = (epoch: string, seq: number) => {
    while (server.messages.length < seq) server.messages.push(`message ${server.messages.length + 1}`);
    stream.recordStored(epoch, offset(seq));
  };
  return { server, stream, open, store, warnings: () => lines.map(({ message }) => message) };
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
  stream.recordStored(epoch, offset(10));
  server.messages.splice(7);
  expect((await open()) > next).toBe(true);
  expect(warnings()).toHaveLength(2);
});
