import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson } from "./parse-json.ts";

const nested = (levels: number) => `${"[".repeat(levels)}${" ".repeat(5_000)}${"]".repeat(levels)}`;

describe("parseJson", () => {
  it("returns what JSON.parse returns, for every value, also in a long text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        expect(parseJson(json)).toEqual(JSON.parse(json));
        const long = JSON.stringify([value, "[".repeat(5_000), '\\"{['.repeat(2_000)]);
        expect(parseJson(long)).toEqual(JSON.parse(long));
      }),
    );
  });

  it("accepts a long text with 1,000 levels, and refuses one with 1,001", () => {
    expect(parseJson(nested(1_000))).toBeInstanceOf(Array);
    expect(() => parseJson(nested(1_001))).toThrow(RangeError);
    expect(() => parseJson('{"a":'.repeat(1_001).padEnd(6_000))).toThrow("deeper than 1000 levels");
  });

  it.each(["[", "{", '{"a":[', '["\\"",['])("refuses a MiB of %j without reading it to its end", (part) => {
    const text = part.repeat(2 ** 20 / part.length);
    const start = performance.now();
    for (let n = 0; n < 100; n++) expect(() => parseJson(text)).toThrow("deeper than 1000 levels");
    expect(performance.now() - start).toBeLessThan(500); // JSON.parse takes 10 to 40 seconds
  });
});
