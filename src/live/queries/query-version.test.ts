import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSeriesName, formatVersion, parseVersion, valueIdOf } from "./query-version.ts";

const version = { valueId: "abcdefghij_-", series: "0z0z0z0z", run: 71, positions: ["0mw.01", "0mw.02"] };
const tags = ["aaaaaaaaaa_", "bbbbbbbbbb-"];
const text = "abcdefghij_-_aaaaaaaaaa_=0mw.01,bbbbbbbbbb-=0mw.02,0z0z0z0z-1z";

describe("a version", () => {
  it("contains the id of the value, the position of each channel with its tag, and the run", () => {
    expect(formatVersion(version, tags)).toBe(text);
    expect(parseVersion(text, 2)).toEqual(version);
  });

  it("is parsed to what it was formatted from", () => {
    const position = fc.stringMatching(/^[0-9A-Za-z.-]{1,40}$/);
    const tag = fc.stringMatching(/^[\w-]{11}$/);
    const channels = fc.array(fc.tuple(position, tag), { minLength: 1, maxLength: 16 });
    fc.assert(
      fc.property(channels, fc.string(), fc.nat(), (pairs, value, run) => {
        const parts = {
          ...{ valueId: valueIdOf(value), series: createSeriesName(), run },
          positions: pairs.map(([each]) => each),
        };
        const formatted = formatVersion(
          parts,
          pairs.map(([, each]) => each),
        );
        expect(formatted.length).toBeLessThanOrEqual(16 * 53 + 40);
        expect(parseVersion(formatted, pairs.length)).toEqual(parts);
      }),
    );
  });

  it.each([
    ["none", undefined],
    ["an empty text", ""],
    ["a version with fewer positions than channels", "abcdefghij_-_aaaaaaaaaa_=0mw.01,0z0z0z0z-1z"],
    ["a version with more positions than channels", text.replace(",0z", ",cccccccccc_=0mw.03,0z")],
    ["a position with another character", text.replace("0mw.01", "0mw:01")],
    ["an empty position", text.replace("0mw.01", "")],
    ["a position of 41 characters", text.replace("0mw.01", "0".repeat(41))],
    ["no tag", text.replace("aaaaaaaaaa_=", "")],
    ["no run", text.replace(",0z0z0z0z-1z", "")],
    ["a short id", text.slice(1)],
    ["a line feed", `${text}\n`],
    ["a long text", `${text.slice(0, -1)}${"z".repeat(2_000)}`],
  ])("counts as absent if it is %s", (_, received) => {
    expect(parseVersion(received, 2)).toBeNull();
  });

  it("never fails, whatever a client sends", () => {
    fc.assert(fc.property(fc.string(), fc.nat(16), (received, count) => void parseVersion(received, count)));
  });

  it("accepts 888 characters, and no more", () => {
    const longest = formatVersion(
      { ...version, positions: Array(16).fill("p".repeat(40)), run: 36 ** 10 - 1 },
      Array(16).fill("t".repeat(11)),
    );
    expect(parseVersion(longest, 16)?.positions).toHaveLength(16);
    expect(longest.length).toBeLessThanOrEqual(888);
    expect(parseVersion(longest.padEnd(889, "0"), 16)).toBeNull();
  });
});

describe("the id of a value", () => {
  it("is the same for equal values, and has 12 characters", () => {
    expect(valueIdOf("[1]")).toBe(valueIdOf("[1]"));
    expect(valueIdOf("[1]")).not.toBe(valueIdOf("[2]"));
    expect(valueIdOf("")).toMatch(/^[\w-]{12}$/);
  });
});

describe("the name of a series", () => {
  it("always has 8 characters", () => {
    for (const number of [0, 0.5, 1 - 2 ** -53]) expect(createSeriesName(() => number)).toMatch(/^[a-z0-9]{8}$/);
  });
});
