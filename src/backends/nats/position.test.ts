import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { POSITION_PATTERN } from "../bus/index.ts";
import {
  encodeSubjectToken,
  epochFromCreated,
  formatPosition,
  hashMessageId,
  NO_MESSAGE_HASH,
  parseDelivery,
  parsePosition,
} from "./position.ts";

describe("a position in NATS", () => {
  it("is parsed to the offset that it was formatted from, and matches the pattern of positions", () => {
    const position = formatPosition("0mwqcnczo5bbq", { seq: 12, messageHash: hashMessageId("a-1") });
    expect(position).toMatch(POSITION_PATTERN);
    expect(position).toHaveLength(31);
    expect(parsePosition(position)).toEqual({
      epoch: "0mwqcnczo5bbq",
      offset: { seq: 12, messageHash: hashMessageId("a-1") },
    });
    expect(parsePosition(`${position}0`)).toBeUndefined();
    expect(parsePosition("")).toBeUndefined();
  });

  it("contains a hash that differs for different message ids", () => {
    expect(hashMessageId("a-1")).toMatch(/^[0-9a-z]{7}$/);
    expect(hashMessageId("a-1")).not.toBe(hashMessageId("a-2"));
    expect([hashMessageId(undefined), hashMessageId("")]).toEqual([NO_MESSAGE_HASH, NO_MESSAGE_HASH]);
  });

  it("starts with an epoch that is greater for a stream created a nanosecond later", () => {
    const created = [
      "2026-11-21T11:43:55Z",
      "2026-11-21T11:43:55.7Z",
      "2026-11-21T11:43:55.721977242Z",
      "2026-11-21T11:43:55.721977243Z",
    ];
    const epochs = created.map(epochFromCreated);
    expect([...epochs].sort()).toEqual(epochs);
    expect(new Set(epochs).size).toBe(4);
    for (const epoch of epochs) expect(epoch).toMatch(/^[0-9a-z]{13}$/);
  });
});

it("encodes every channel name as one subject token without special characters, from which it can be decoded", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."aA-_.*> /+é房🚪"), minLength: 1 }), (name) => {
      expect(encodeSubjectToken(name)).toMatch(/^[\w-]+$/);
      expect(Buffer.from(encodeSubjectToken(name), "base64url").toString()).toBe(name);
    }),
  );
});

it.each([
  [
    "$JS.ACK.tsweb.vXyoYslU.1.1001.7.1795261436334301182.0",
    { streamSequence: 1001, consumerSequence: 7, storedAtMs: 1_795_261_436_334.301_3 },
  ],
  [
    "$JS.ACK.hub.Hash.tsweb.vXyoYslU.1.1001.7.1795261436334301182.0",
    { streamSequence: 1001, consumerSequence: 7, storedAtMs: 1_795_261_436_334.301_3 },
  ],
  [
    "$JS.ACK.hub.Hash.tsweb.vXyoYslU.1.1001.7.1795261436334301182.0.token",
    { streamSequence: 1001, consumerSequence: 7, storedAtMs: 1_795_261_436_334.301_3 },
  ],
  ["$JS.ACK.tsweb.vXyoYslU.1.x.7.1795261436334301182.0", undefined],
  ["$JS.FC.tsweb.vXyoYslU.1", undefined],
  ["_INBOX.a", undefined],
  ["", undefined],
  [undefined, undefined],
])("parses the delivery metadata of the reply subject %s", (reply, info) => {
  expect(parseDelivery(reply)).toEqual(info);
});
