import { afterEach, expect, it, vi } from "vitest";
import { readBatch } from "./batch-reader.ts";
import type { JetStreamContext } from "./connector.ts";

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
  // The parts that the reader uses.
  const context = {
    ...{ connection, createInbox: () => "inbox", manager: { consumers: { add, delete: deleteConsumer } } },
  } as unknown as JetStreamContext;
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
