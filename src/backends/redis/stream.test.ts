import { describe, expect, it } from "vitest";
import { POSITION_PATTERN } from "../bus/index.ts";
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
} from "./stream.ts";

const EPOCH = "0mwqcnczo5bbq";
const NOW = 1_800_000_000_000;
const MAX_AGE = 88_200_000;

const entry = (ms: number, seq: number, previousId: string): StreamEntry => ({
  id: { ms, seq },
  previousId,
  data: `${seq}`,
});

/** The entries of a channel with three messages. */
const three = [entry(NOW, 1, "0"), entry(NOW, 2, `${NOW}-1`), entry(NOW + 5, 3, `${NOW}-2`)];

/** Returns the range that Redis returns after an id. */
function rangeAfter(id: EntryId, entries: readonly StreamEntry[], overrides: Partial<StreamRange> = {}): StreamRange {
  const isAfter = (entry: StreamEntry) => formatPosition(EPOCH, entry.id) > formatPosition(EPOCH, id);
  return { epoch: EPOCH, nowMs: NOW + 10, lastId: entries.at(-1)?.id, entries: entries.filter(isAfter), ...overrides };
}

function read(id: EntryId, entries: readonly StreamEntry[], more: Partial<StreamRange> = {}) {
  const batch = buildReadResult(formatPosition(EPOCH, id), rangeAfter(id, entries, more), MAX_AGE);
  const reason = batch.reset ? "reset" : "gap";
  const texts = batch.gap ? reason : batch.messages.map(({ data }) => data).join();
  return { texts, end: batch.end, more: batch.more };
}

/** Returns the id of a time at which there is no stream. */
const noStream = (ms: number): EntryId => ({ ms, seq: 0 });

describe("a position in Redis", () => {
  it("is parsed to the id that it was formatted from, and matches the pattern of positions", () => {
    const position = formatPosition(EPOCH, { ms: NOW, seq: 12 });
    expect(position).toMatch(POSITION_PATTERN);
    expect(position).toHaveLength(33);
    expect(parsePosition(position)).toEqual({ epoch: EPOCH, id: { ms: NOW, seq: 12 } });
  });

  it("is ordered by time and then by sequence number", () => {
    const ids = [
      noStream(NOW - 1),
      noStream(NOW),
      { ms: NOW, seq: 1 },
      { ms: NOW, seq: 40 },
      { ms: NOW + 1, seq: 36 ** 5 },
    ];
    const positions = ids.map((id) => formatPosition(EPOCH, id));
    expect([...positions].sort()).toEqual(positions);
  });

  it.each(["", "x", `${EPOCH}.000000000`, `${EPOCH}.000000000-00000000`, `${EPOCH}.00000000A-000000000`])(
    "is not parsed from %j",
    (text) => {
      expect(parsePosition(text)).toBeUndefined();
    },
  );

  it.each(["", "1", "a-b", "1-", "-", "1-1-1", "99999999999999999999-1"])(
    "is not created from the malformed entry id %j",
    (id) => {
      expect(() => parseEntryId(id)).toThrow("Unexpected entry id in Redis");
    },
  );
});

describe("buildReadResult", () => {
  it("returns the entries after the requested id", () => {
    expect(read({ ms: NOW, seq: 1 }, three).texts).toBe("2,3");
    expect(read({ ms: NOW, seq: 2 }, three).texts).toBe("3");
    expect(read({ ms: NOW + 5, seq: 3 }, three)).toEqual({
      texts: "",
      end: formatPosition(EPOCH, { ms: NOW + 5, seq: 3 }),
      more: false,
    });
  });

  it("returns the position from which to continue when Redis returned only a part of the entries", () => {
    expect(read({ ms: NOW, seq: 1 }, three, { entries: three.slice(1, 2) })).toEqual({
      texts: "2",
      end: formatPosition(EPOCH, { ms: NOW, seq: 2 }),
      more: true,
    });
  });

  it("needs the entry after the requested id, but not the entry itself", () => {
    expect(read({ ms: NOW, seq: 1 }, three.slice(1)).texts).toBe("2,3");
    expect(read({ ms: NOW, seq: 1 }, three.slice(2)).texts).toBe("gap");
    expect(read({ ms: NOW + 5, seq: 3 }, [], { lastId: { ms: NOW + 5, seq: 3 } }).texts).toBe("");
    expect(read({ ms: NOW, seq: 2 }, [], { lastId: { ms: NOW + 5, seq: 3 } }).texts).toBe("gap");
  });

  it("reports a reset if there is no stream any more, or another epoch", () => {
    expect(read({ ms: NOW, seq: 1 }, []).texts).toBe("reset");
    expect(read({ ms: NOW, seq: 1 }, three, { epoch: "0mwqcnczo5bbr" }).texts).toBe("reset");
    expect(read(noStream(NOW), [], { epoch: "0mwqcnczo5bbr" }).texts).toBe("reset");
  });

  it("reports a reset if the stream was restored to a state before the id, also after new entries", () => {
    expect(read({ ms: NOW + 7, seq: 4 }, three).texts).toBe("reset");
    const other = [entry(NOW + 8, 4, `${NOW + 5}-3`), entry(NOW + 9, 5, `${NOW + 8}-4`)];
    expect(read({ ms: NOW + 7, seq: 4 }, [...three, ...other]).texts).toBe("reset");
    expect(read({ ms: NOW + 8, seq: 4 }, [...three, ...other]).texts).toBe("5");
    expect(read({ ms: NOW + 7, seq: 4 }, [], { lastId: { ms: NOW + 6, seq: 5 } }).texts).toBe("reset");
    expect(read({ ms: NOW + 7, seq: 4 }, [], { lastId: { ms: NOW + 8, seq: 4 } }).texts).toBe("reset");
    expect(read({ ms: NOW + 7, seq: 4 }, [], { lastId: { ms: NOW + 8, seq: 5 } }).texts).toBe("gap");
  });

  it("continues from a time without a stream, as long as no stream can have existed and expired since", () => {
    expect(read(noStream(NOW - MAX_AGE + 1), three).texts).toBe("1,2,3");
    expect(read(noStream(NOW - MAX_AGE), three).texts).toBe("gap");
    expect(read(noStream(NOW), three).texts).toBe("1,2,3");
    expect(read(noStream(NOW - 1), three.slice(1)).texts).toBe("gap");
    expect(read(noStream(NOW + 1), three).texts).toBe("gap");
    expect(read(noStream(NOW), [], { lastId: { ms: NOW + 5, seq: 3 } }).texts).toBe("gap");
  });

  it("moves the position with the clock while there is no stream, and not back with it", () => {
    expect(read(noStream(NOW), [])).toEqual({ texts: "", end: formatPosition(EPOCH, noStream(NOW + 10)), more: false });
    expect(read(noStream(NOW + 20), [])).toEqual({
      texts: "",
      end: formatPosition(EPOCH, noStream(NOW + 20)),
      more: false,
    });
    expect(read(noStream(NOW + 10 - MAX_AGE + 1), []).texts).toBe("");
    expect(read(noStream(NOW + 10 - MAX_AGE), []).texts).toBe("gap");
    expect(endPosition({ epoch: EPOCH, nowMs: NOW, lastId: undefined })).toBe(formatPosition(EPOCH, noStream(NOW)));
  });

  it("returns the same messages from the id that previousEntryId returns for a notification", () => {
    const [first, second] = three as [StreamEntry, StreamEntry, StreamEntry]; // as it is written above
    expect(previousEntryId(second, MAX_AGE)).toEqual(first.id);
    const previous = previousEntryId(first, MAX_AGE);
    expect(read(previous, three).texts).toBe("1,2,3");
    expect(read({ ...previous, ms: previous.ms - 1 }, three).texts).toBe("gap");
  });
});
