import { expect, it } from "vitest";
import { NO_MESSAGE_HASH } from "./position.ts";
import { SeenMessages } from "./stream.ts";

const offset = (seq: number, messageHash = `hash${seq}`) => ({ seq, messageHash });

it("knows the last message, the end of the stream, and the last message of each subject, whatever arrives late", () => {
  const seen = new SeenMessages();
  expect([seen.last, seen.endSeq, seen.lastOf("a")]).toEqual([undefined, 0, 0]);
  seen.record("a", offset(3));
  seen.record("b", offset(5));
  seen.record("a", offset(2));
  expect([seen.last, seen.endSeq, seen.lastOf("a"), seen.lastOf("b")]).toEqual([offset(5), 5, 3, 5]);
  seen.recordEnd(9);
  seen.recordEnd(4);
  expect([seen.last, seen.endSeq]).toEqual([offset(5), 9]);
});

it("compares no message without a hash with what the stream has later", () => {
  const seen = new SeenMessages();
  seen.record("a", offset(1));
  seen.record("a", offset(2, NO_MESSAGE_HASH));
  expect([seen.last, seen.endSeq, seen.lastOf("a")]).toEqual([offset(1), 2, 2]);
});

it("forgets the subject whose last message is oldest, above 10,000 subjects", () => {
  const seen = new SeenMessages();
  for (let seq = 1; seq <= 10_000; seq++) seen.record(`room:${seq}`, offset(seq));
  seen.record("room:1", offset(10_001));
  seen.record("another", offset(10_002));
  expect(["room:1", "room:2", "room:3", "another"].map((subject) => seen.lastOf(subject))).toEqual([
    10_001, 0, 3, 10_002,
  ]);
});
