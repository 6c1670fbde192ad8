import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type DeliveredMessage, HeldMessages } from "./held-messages.ts";
import type { StreamState } from "./stream.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const LARGE: StreamState = {
  ...{ epoch: "e", firstSeq: 1, lastSeq: 10, atMs: 1_000, maxBytes: 2 ** 29, maxMessages: Number.POSITIVE_INFINITY },
};
/** A stream that could be filled within a moment. */
const SMALL: StreamState = { ...LARGE, maxBytes: 50_000 };

const message = (seq: number, more: Partial<DeliveredMessage> = {}): DeliveredMessage => ({
  ...{ subject: "a", seq, id: `id ${seq}`, data: "1", epoch: "e" },
  ...more,
});

/** Holds messages after sequence 4, and lets the test answer the requests for the state of the stream. */
function hold() {
  const passed: number[] = [];
  const answers: { resolve(state: StreamState): void; reject(error: Error): void }[] = [];
  const state = { lost: 0 };
  const held = new HeldMessages({
    inspect: () => new Promise((resolve, reject) => void answers.push({ resolve, reject })),
    onMessage: ({ seq }) => passed.push(seq),
    onLost: () => {
      state.lost++;
      held.clear();
    },
  });
  held.start("e", 4);
  const answer = async (stream: StreamState) => {
    answers.shift()?.resolve(stream);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { held, passed, answers, state, answer };
}

it("passes on messages after an answer that was requested when they had arrived", async () => {
  const { held, passed, answers, answer } = hold();
  held.add(message(6));
  held.add(message(7));
  expect([passed, answers.length]).toEqual([[], 1]); // the second one arrived after the request
  await answer(SMALL);
  expect([passed, answers.length]).toEqual([[6], 1]);
  await answer(SMALL);
  expect([passed, answers.length]).toEqual([[6, 7], 0]);
});

it("passes on further messages without a check, for as long as nothing could fill the stream", async () => {
  const { held, passed, answers, answer } = hold();
  held.add(message(10));
  await answer(LARGE);
  held.add(message(11));
  expect(passed).toEqual([10, 11]);
  await vi.advanceTimersByTimeAsync(260);
  held.add(message(12));
  expect([passed, answers.length]).toEqual([[10, 11], 1]);
});

it("checks again if the consumer is so far behind that the stream could soon remove what it has not delivered", async () => {
  const { held, passed, answer } = hold();
  held.add(message(6));
  await answer({ ...LARGE, lastSeq: 9_000 });
  held.add(message(7));
  expect(passed).toEqual([6]);
});

it.each<[string, Partial<StreamState>, Partial<DeliveredMessage>]>([
  ["the stream has removed messages after the last one that was checked", { firstSeq: 6 }, {}],
  ["the stream was created again", { epoch: "f", lastSeq: 2 }, {}],
  ["a message arrives too late", { atMs: 1_001 }, { dueAtMs: 1_000 }],
])("reports that messages may be missing, and passes none on, if %s", async (_, stream, more) => {
  const { held, passed, state, answer } = hold();
  held.add(message(7, more));
  held.add(message(8));
  await answer({ ...LARGE, ...stream });
  expect([passed, state.lost]).toEqual([[], 1]);
  held.start("e", 8);
  held.add(message(9));
  await answer(LARGE);
  expect(passed).toEqual([9]);
});

it("believes that nothing was removed if the stream still has the message after the last one that was checked", async () => {
  const { held, passed, state, answer } = hold();
  held.add(message(7));
  await answer({ ...LARGE, firstSeq: 5 });
  expect([passed, state.lost]).toEqual([[7], 0]);
});

it("checks a message that must not be late, also when others need no check", async () => {
  const { held, passed, state, answer } = hold();
  held.add(message(10));
  await answer(LARGE);
  held.add(message(11, { dueAtMs: 6_000 }));
  held.add(message(12));
  expect(passed).toEqual([10]);
  await answer({ ...LARGE, lastSeq: 12, atMs: 5_999 });
  expect([passed, state.lost]).toEqual([[10, 11, 12], 0]);
});

it("requests the state again after a failure, and after an answer of a server that is behind", async () => {
  const { held, passed, answers, answer } = hold();
  held.add(message(10));
  answers.shift()?.reject(new Error("unreachable"));
  await vi.advanceTimersByTimeAsync(150);
  await answer({ ...LARGE, lastSeq: 9 });
  expect(passed).toEqual([]);
  await vi.advanceTimersByTimeAsync(150);
  await answer(LARGE);
  expect([passed, answers.length]).toEqual([[10], 0]);
});

it("drops what is held when it starts again, and ignores the answer to an earlier request", async () => {
  const { held, passed, answer, answers } = hold();
  held.add(message(7));
  held.start("e", 8);
  await answer(LARGE);
  held.add(message(9));
  await answer(LARGE);
  expect([passed, answers.length]).toEqual([[9], 0]);
});

it("holds at most 8 MiB", () => {
  const { held, state } = hold();
  for (let seq = 5; seq < 5 + 129; seq++) held.add(message(seq, { data: "x".repeat(65_536) }));
  expect(state.lost).toBe(1);
});
