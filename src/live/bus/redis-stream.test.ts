import { describe, expect, it } from "vitest";
import { POSITION_PATTERN } from "./bus.ts";
import {
  buildReadResult,
  type EntryId,
  endPosition,
  formatPosition,
  parseEntryId,
  parsePosition,
  previousEntryId,
  type StreamEntry,
  type StreamRange,
} from "./redis-stream.ts";

const EPOCH = "0mwqcnczo5bbq";
const NOW = 1_800_000_000_000;
const KEEP = 88_200_000;

const entry = (ms: number, n: number, before: string): StreamEntry => ({ place: { ms, n }, before, data: `${n}` });

/** A channel of three messages, of which the first may be trimmed. */
const three = [entry(NOW, 1, "0"), entry(NOW, 2, `${NOW}-1`), entry(NOW + 5, 3, `${NOW}-2`)];

/** What Redis tells of a channel, to who asks from a place. */
function rangeFrom(place: EntryId, entries: readonly StreamEntry[], more: Partial<StreamRange> = {}): StreamRange {
  const isAfter = (each: StreamEntry) => formatPosition(EPOCH, each.place) > formatPosition(EPOCH, place);
  return { epoch: EPOCH, nowMs: NOW + 10, last: entries.at(-1)?.place, entries: entries.filter(isAfter), ...more };
}

function read(place: EntryId, entries: readonly StreamEntry[], more: Partial<StreamRange> = {}, limit = 10) {
  const options = { limit, keepMs: KEEP };
  const batch = buildReadResult(formatPosition(EPOCH, place), rangeFrom(place, entries, more), options);
  const reason = batch.reset ? "reset" : "gap";
  const texts = batch.gap ? reason : batch.messages.map(({ data }) => data).join();
  return { texts, end: batch.end, more: batch.more };
}

const absent = (ms: number): EntryId => ({ ms, n: 0 });

describe("a position", () => {
  it("is read as it was written, and is what positions may be", () => {
    const position = formatPosition(EPOCH, { ms: NOW, n: 12 });
    expect(position).toMatch(POSITION_PATTERN);
    expect(position).toHaveLength(33);
    expect(parsePosition(position)).toEqual({ epoch: EPOCH, place: { ms: NOW, n: 12 } });
  });

  it("follows the time and then the number", () => {
    const places = [absent(NOW - 1), absent(NOW), { ms: NOW, n: 1 }, { ms: NOW, n: 40 }, { ms: NOW + 1, n: 36 ** 5 }];
    const positions = places.map((place) => formatPosition(EPOCH, place));
    expect([...positions].sort()).toEqual(positions);
  });

  it.each(["", "x", `${EPOCH}.000000000`, `${EPOCH}.000000000-00000000`, `${EPOCH}.00000000A-000000000`])(
    "is not %j",
    (text) => {
      expect(parsePosition(text)).toBeUndefined();
    },
  );

  it.each(["", "1", "a-b", "1-", "-", "1-1-1", "99999999999999999999-1"])("is not made of the id %j", (id) => {
    expect(() => parseEntryId(id)).toThrow("not of this bus");
  });
});

describe("a read", () => {
  it("gives what follows on its place", () => {
    expect(read({ ms: NOW, n: 1 }, three).texts).toBe("2,3");
    expect(read({ ms: NOW, n: 2 }, three).texts).toBe("3");
    expect(read({ ms: NOW + 5, n: 3 }, three)).toEqual({
      texts: "",
      end: formatPosition(EPOCH, { ms: NOW + 5, n: 3 }),
      more: false,
    });
  });

  it("gives what it may, and says where to go on", () => {
    expect(read({ ms: NOW, n: 1 }, three, {}, 1)).toEqual({
      texts: "2",
      end: formatPosition(EPOCH, { ms: NOW, n: 2 }),
      more: true,
    });
  });

  it("needs not the entry of its place, but the next one", () => {
    expect(read({ ms: NOW, n: 1 }, three.slice(1)).texts).toBe("2,3");
    expect(read({ ms: NOW, n: 1 }, three.slice(2)).texts).toBe("gap");
    expect(read({ ms: NOW + 5, n: 3 }, [], { last: { ms: NOW + 5, n: 3 } }).texts).toBe("");
    expect(read({ ms: NOW, n: 2 }, [], { last: { ms: NOW + 5, n: 3 } }).texts).toBe("gap");
  });

  it("is told of a reset where there is no stream any more, or another epoch", () => {
    expect(read({ ms: NOW, n: 1 }, []).texts).toBe("reset");
    expect(read({ ms: NOW, n: 1 }, three, { epoch: "0mwqcnczo5bbr" }).texts).toBe("reset");
    expect(read(absent(NOW), [], { epoch: "0mwqcnczo5bbr" }).texts).toBe("reset");
  });

  it("is told of a reset where history was set back: behind its place, or on another way past it", () => {
    expect(read({ ms: NOW + 7, n: 4 }, three).texts).toBe("reset");
    const other = [entry(NOW + 8, 4, `${NOW + 5}-3`), entry(NOW + 9, 5, `${NOW + 8}-4`)];
    expect(read({ ms: NOW + 7, n: 4 }, [...three, ...other]).texts).toBe("reset");
    expect(read({ ms: NOW + 8, n: 4 }, [...three, ...other]).texts).toBe("5");
    expect(read({ ms: NOW + 7, n: 4 }, [], { last: { ms: NOW + 6, n: 5 } }).texts).toBe("reset");
    expect(read({ ms: NOW + 7, n: 4 }, [], { last: { ms: NOW + 8, n: 4 } }).texts).toBe("reset");
    expect(read({ ms: NOW + 7, n: 4 }, [], { last: { ms: NOW + 8, n: 5 } }).texts).toBe("gap");
  });

  it("follows on a time without a stream, as long as none can have come and gone", () => {
    expect(read(absent(NOW - KEEP + 1), three).texts).toBe("1,2,3");
    expect(read(absent(NOW - KEEP), three).texts).toBe("gap");
    expect(read(absent(NOW), three).texts).toBe("1,2,3");
    expect(read(absent(NOW - 1), three.slice(1)).texts).toBe("gap");
    expect(read(absent(NOW + 1), three).texts).toBe("gap");
    expect(read(absent(NOW), [], { last: { ms: NOW + 5, n: 3 } }).texts).toBe("gap");
  });

  it("goes on along the time while there is no stream, also when the clock was set back a little", () => {
    expect(read(absent(NOW), [])).toEqual({ texts: "", end: formatPosition(EPOCH, absent(NOW + 10)), more: false });
    expect(read(absent(NOW + 20), [])).toEqual({
      texts: "",
      end: formatPosition(EPOCH, absent(NOW + 20)),
      more: false,
    });
    expect(read(absent(NOW + 10 - KEEP + 1), []).texts).toBe("");
    expect(read(absent(NOW + 10 - KEEP), []).texts).toBe("gap");
    expect(endPosition({ epoch: EPOCH, nowMs: NOW, last: undefined })).toBe(formatPosition(EPOCH, absent(NOW)));
  });

  it("agrees with what a wake-up says that a message follows on", () => {
    const [first, second] = three as [StreamEntry, StreamEntry, StreamEntry]; // as it is written above
    expect(previousEntryId(second, KEEP)).toEqual(first.place);
    const before = previousEntryId(first, KEEP);
    expect(read(before, three).texts).toBe("1,2,3");
    expect(read({ ...before, ms: before.ms - 1 }, three).texts).toBe("gap");
  });
});
