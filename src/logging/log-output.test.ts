import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LogOutput } from "./log-output.ts";

const MIB = 1024 * 1024;

/** A file that takes a limited number of bytes, and then fails with a code. */
class FakeFile {
  text = "";
  attempts = 0;
  room = Number.POSITIVE_INFINITY;
  code = "EAGAIN";

  readonly write = (bytes: Uint8Array): number => {
    this.attempts++;
    if (this.room === 0) throw Object.assign(new Error("The fake file is full."), { code: this.code });
    const written = Math.min(this.room, bytes.length);
    this.text += Buffer.from(bytes.subarray(0, written)).toString("latin1");
    this.room -= written;
    return written;
  };

  get lines(): string[] {
    return this.text.split("\n").slice(0, -1);
  }
}

const line = (n: number, length = 100) => `${n} ${"x".repeat(length)}\n`;
const numbersOf = (lines: readonly string[]) => lines.map((text) => Number(/^\d+ /.exec(text)?.[0]));

describe("log output", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers().restoreAllMocks());

  it("writes each line at once", () => {
    const file = new FakeFile();
    const output = new LogOutput(file.write);
    output.write("a\n");
    expect(file.text).toBe("a\n");
  });

  it.each(["EAGAIN", "ENOSPC", "EPIPE", "EIO"])(
    "continues where %s has interrupted a line, without a further line",
    (code) => {
      const file = Object.assign(new FakeFile(), { room: 150, code });
      const output = new LogOutput(file.write);
      for (let n = 0; n < 10; n++) output.write(line(n));
      expect(file.text.length).toBe(150);
      file.room = Number.POSITIVE_INFINITY;
      vi.advanceTimersByTime(500);
      expect(file.text).toBe(Array.from({ length: 10 }, (_, n) => line(n)).join(""));
    },
  );

  it("tries again during a burst of lines in which no timer can fire", () => {
    const file = Object.assign(new FakeFile(), { room: 0 });
    const output = new LogOutput(file.write);
    output.write(line(0));
    file.room = Number.POSITIVE_INFINITY;
    output.write(line(1));
    expect(file.text).toBe(""); // not for each line: an attempt costs an error
    vi.spyOn(performance, "now").mockReturnValue(performance.now() + 10);
    output.write(line(2));
    expect(numbersOf(file.lines)).toEqual([0, 1, 2]);
  });

  it.each([
    [MIB - 1, 0],
    [MIB, 0],
    [MIB + 1, 1],
  ])("lets %i bytes wait, and then drops %i lines", (bytes, dropped) => {
    const file = Object.assign(new FakeFile(), { room: 0 });
    const output = new LogOutput(file.write);
    output.write(`${"a".repeat(999)}\n`);
    output.write(`${"b".repeat(bytes - 1_001)}\n`);
    file.room = Number.POSITIVE_INFINITY;
    vi.advanceTimersByTime(10);
    expect(file.lines.filter((text) => text.startsWith("b"))).toHaveLength(1 - dropped);
    expect(file.lines.filter((text) => text.includes(`"dropped":${dropped},`))).toHaveLength(dropped);
  });

  it("keeps a single line of any length", () => {
    const file = Object.assign(new FakeFile(), { room: 10 });
    const output = new LogOutput(file.write);
    output.write(line(1, 2 * MIB));
    file.room = Number.POSITIVE_INFINITY;
    vi.advanceTimersByTime(10);
    expect(file.text).toBe(line(1, 2 * MIB));
  });

  it("reports the number of dropped lines and the error between the lines before and after them", () => {
    const file = Object.assign(new FakeFile(), { room: 0, code: "ENOSPC" });
    const output = new LogOutput(file.write);
    for (let n = 0; n < 300; n++) output.write(line(n, 10_000));
    file.room = Number.POSITIVE_INFINITY;
    vi.advanceTimersByTime(500);
    output.write(line(300));
    const report = JSON.parse(file.lines.at(-2) ?? "");
    const { dropped } = report;
    expect(report).toEqual({
      level: "warn",
      time: expect.any(String),
      pid: process.pid,
      dropped,
      msg: `${dropped} log lines were dropped: standard output could not be written, the error was ENOSPC.`,
    });
    const kept = 300 - dropped;
    expect(numbersOf([...file.lines.slice(0, -2), file.lines.at(-1) ?? ""])).toEqual([...Array(kept).keys(), 300]);
  });

  it("never loses, repeats or reorders a line without a report, for any file", () => {
    const step = fc.oneof(
      fc.record({ write: fc.integer({ min: 1, max: 400_000 }) }),
      fc.record({ room: fc.integer({ min: 0, max: 1_000_000 }), code: fc.constantFrom("EAGAIN", "ENOSPC") }),
      fc.record({ waitMs: fc.integer({ min: 0, max: 1_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const file = new FakeFile();
        const output = new LogOutput(file.write);
        let count = 0;
        for (const next of steps) {
          if ("write" in next) output.write(line(count++, next.write));
          else if ("room" in next) Object.assign(file, next);
          else vi.advanceTimersByTime(next.waitMs);
        }
        file.room = Number.POSITIVE_INFINITY;
        vi.advanceTimersByTime(500);
        let expected = 0;
        for (const text of file.lines) {
          if (text.startsWith("{")) expected += JSON.parse(text).dropped;
          else expect(numbersOf([text])).toEqual([expected++]);
        }
        expect(expected).toBe(count);
      }),
      { numRuns: 50 },
    );
  });
});

describe("the exit of the process", () => {
  const full = (code: string) => Object.assign(new FakeFile(), { room: 0, code });

  it("waits for a pipe that is being read", () => {
    const file = full("EAGAIN");
    const output = new LogOutput((bytes) => {
      if (file.attempts === 5) file.room = Number.POSITIVE_INFINITY;
      return file.write(bytes);
    });
    output.write(line(1));
    output.flush();
    expect(file.text).toBe(line(1));
  });

  it("waits for a pipe that is not being read only for the time limit", () => {
    const output = new LogOutput(full("EAGAIN").write);
    output.write(line(1));
    const start = performance.now();
    output.flush(50);
    expect(performance.now() - start).toBeGreaterThanOrEqual(50);
    expect(performance.now() - start).toBeLessThan(500);
  });

  it.each(["ENOSPC", "EPIPE"])("does not wait after %s", (code) => {
    const file = full(code);
    const output = new LogOutput(file.write);
    output.write(line(1));
    output.flush();
    expect(file.attempts).toBe(2);
  });
});
