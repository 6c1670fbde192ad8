import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RevokedSubjects } from "./revoked-subjects.ts";
import { KEEP_SECONDS, type LogPosition } from "./store.ts";

const ADA = "u:ada";
const DAY_MS = 86_400_000;

/** Returns a session of Ada with a position. */
function sessionAt(position: LogPosition | null, signIn = "s:1") {
  return { position, subjects: { user: ADA, signIn } };
}

const at = (seq: number, epoch = "a") => ({ epoch, seq });

/** Returns the result of a read. The last entry is the end. */
function readOf(entries: readonly (readonly [string, number])[], { epoch = "a", end = entries.at(-1)?.[1] ?? 0 } = {}) {
  return { epoch, entries: entries.map(([subject, seq]) => ({ subject, seq })), end };
}

/** Returns subjects after these reads. */
function subjectsAfter(...reads: readonly ReturnType<typeof readOf>[]): RevokedSubjects {
  const subjects = new RevokedSubjects();
  for (const read of reads) subjects.apply(read, 0);
  return subjects;
}

describe("a session", () => {
  it("is refused if its user has an entry after its position, and only then", () => {
    const subjects = subjectsAfter(readOf([[ADA, 5]], { end: 9 }));
    const isRevoked = [0, 4, 5, 6, 9].map((seq) => subjects.isRevoked(sessionAt(at(seq))));
    expect(isRevoked).toEqual([true, true, false, false, false]);
  });

  it("counts as refused earlier only by entries up to that order", () => {
    const subjects = subjectsAfter(readOf([[ADA, 5]]));
    const [ofOther, { order }] = [sessionAt(at(5), "s:2"), subjects];
    subjects.apply(readOf([["s:2", 6]]), 0);
    expect([subjects.isRevoked(sessionAt(at(4))), subjects.isRevoked(sessionAt(at(4)), order)]).toEqual([true, true]);
    expect([subjects.isRevoked(ofOther), subjects.isRevoked(ofOther, order)]).toEqual([true, false]);
    // An entry after that replaces the one before it.
    subjects.apply(readOf([[ADA, 7]]), 0);
    expect([subjects.isRevoked(sessionAt(at(4))), subjects.isRevoked(sessionAt(at(4)), order)]).toEqual([true, false]);
  });

  it("is accepted although another user has an entry", () => {
    expect(subjectsAfter(readOf([["u:bob", 3]])).isRevoked(sessionAt(at(0)))).toBe(false);
  });

  it("is refused by an entry for its sign-in, whatever position it names", () => {
    const subjects = subjectsAfter(readOf([["s:1", 3]]));
    expect(subjects.isRevoked(sessionAt(at(9)))).toBe(true);
    expect(subjects.isRevoked(sessionAt(at(9), "s:2"))).toBe(false);
  });

  it("without a position is refused by every entry for its user, and accepted without one [SESSION-24]", () => {
    expect(subjectsAfter(readOf([[ADA, 1]])).isRevoked(sessionAt(null))).toBe(true);
    expect(subjectsAfter(readOf([["u:bob", 1]])).isRevoked(sessionAt(null))).toBe(false);
  });

  it("that names an unknown epoch is refused by every entry for its user [SESSION-25]", () => {
    expect(subjectsAfter(readOf([[ADA, 1]])).isRevoked(sessionAt(at(9, "z")))).toBe(true);
  });

  it("stays refused when the store was emptied, and one that was issued after that is accepted", () => {
    const subjects = subjectsAfter(readOf([[ADA, 5]]), readOf([], { epoch: "b" }));
    expect(subjects.isRevoked(sessionAt(at(4)))).toBe(true);
    expect(subjects.isRevoked(sessionAt(at(5)))).toBe(false);
    expect(subjects.isRevoked(sessionAt(at(0, "b")))).toBe(false);
  });

  it("of an earlier epoch is refused by an entry of the later one", () => {
    const subjects = subjectsAfter(readOf([], { end: 900 }), readOf([[ADA, 1]], { epoch: "b" }));
    expect(subjects.isRevoked(sessionAt(at(900)))).toBe(true);
    expect(subjects.isRevoked(sessionAt(at(1, "b")))).toBe(false);
  });

  it("of before a restored log is refused if its user has an entry in any log", () => {
    const subjects = subjectsAfter(readOf([], { end: 4 }), readOf([[ADA, 6]], { epoch: "b" }), readOf([], { end: 4 }));
    const positions = [at(3), at(6, "b"), at(9, "b"), null];
    expect(positions.map((position) => subjects.isRevoked(sessionAt(position)))).toEqual([true, true, true, true]);
    expect(subjects.isRevoked(sessionAt(subjects.position))).toBe(false);
  });

  it("is decided like by a search of the complete log, for every log and position [SESSION-13]", () => {
    const entry = fc.tuple(fc.constantFrom(ADA, "u:bob", "s:1", "s:2"), fc.integer({ min: 1, max: 3 }));
    fc.assert(
      fc.property(fc.array(fc.array(entry, { maxLength: 4 }), { maxLength: 6 }), fc.nat(40), (reads, seq) => {
        const subjects = new RevokedSubjects();
        const log: [string, number][] = [];
        let end = 0;
        for (const read of reads) {
          const entries = read.map(([subject, step]): [string, number] => {
            end += step;
            return [subject, end];
          });
          log.push(...entries);
          subjects.apply(readOf(entries, { end }), 0);
        }
        const expected = log.some(([subject, number]) => subject === "s:1" || (subject === ADA && number > seq));
        expect(subjects.isRevoked(sessionAt(at(seq)))).toBe(expected);
      }),
    );
  });
});

describe("the position", () => {
  it("is that of the last read, and never goes back within an epoch", () => {
    const subjects = subjectsAfter(readOf([[ADA, 5]], { end: 9 }), readOf([], { end: 3 }));
    expect(subjects.position).toEqual(at(9));
  });

  it("is ahead if it is later than what was read, or of an epoch that was never seen", () => {
    const subjects = subjectsAfter(readOf([], { end: 5 }), readOf([], { epoch: "b", end: 7 }));
    expect([at(7, "b"), at(8, "b"), at(9), at(0, "c")].map((p) => subjects.isAhead(p))).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  it("is not ahead any more after the log was read", () => {
    const subjects = subjectsAfter(readOf([], { end: 5 }));
    subjects.confirm(at(8));
    expect(subjects.isAhead(at(8))).toBe(false);
    expect(subjects.position).toEqual(at(8));
  });
});

describe("the memory", () => {
  it("contains one entry for each subject, however often it was revoked", () => {
    const subjects = new RevokedSubjects();
    for (let seq = 1; seq <= 1000; seq++) subjects.apply(readOf([[ADA, seq]]), seq);
    expect(subjects.size).toBe(1);
    expect(subjects.isRevoked(sessionAt(at(999)))).toBe(true);
  });

  it("keeps an entry for longer than any session is valid, and then removes it, also while others are added", () => {
    const subjects = subjectsAfter(readOf([[ADA, 1]]));
    let seq = 1;
    for (let ms = 0; ms <= 7 * DAY_MS; ms += DAY_MS / 48) {
      subjects.apply(readOf([[`u:${++seq}`, seq]]), ms);
      subjects.expire(ms);
    }
    expect(subjects.isRevoked(sessionAt(at(0)))).toBe(true);
    const { size } = subjects;
    subjects.expire(KEEP_SECONDS * 1000 + 2 * 3_600_000);
    expect(subjects.size).toBeLessThan(size - 1);
    expect(subjects.isRevoked(sessionAt(at(0)))).toBe(false);
    subjects.expire(20 * DAY_MS);
    expect(subjects.size).toBe(0);
  });

  it("is bounded: beyond the maximum, all sessions of before the removed entries are refused [SESSION-26]", () => {
    const subjects = new RevokedSubjects(10);
    subjects.apply(readOf([[ADA, 1]]), 0);
    for (let seq = 2; seq <= 11; seq++) subjects.apply(readOf([[`u:${seq}`, seq]]), 0);
    expect(subjects.size).toBe(5);
    const carol = (seq: number) => ({ position: at(seq), subjects: { user: "u:carol", signIn: "s:9" } });
    expect([0, 5, 6, 7].map((seq) => subjects.isRevoked(carol(seq)))).toEqual([true, true, false, false]);
    expect(subjects.isRevoked(sessionAt(at(0)))).toBe(true);
  });
});
