import { describe, expect, it } from "vitest";
import { testConfig } from "#test/request-context";
import { Recent, recentOf } from "./lru-cache.ts";

describe("what is remembered", () => {
  it("is given for the same text alone", () => {
    const recent = new Recent<number>(10);
    recent.set("token", 1);
    expect(recent.get(["to", "ken"].join(""))).toBe(1);
    for (const other of ["tokem", "Token", "token ", "toke", "", "__proto__"])
      expect(recent.get(other)).toBeUndefined();
  });

  it("is bounded, and what was asked for lately stays", () => {
    const recent = new Recent<number>(10);
    recent.set("asked for", -1);
    for (let i = 0; i < 1000; i++) {
      recent.set(`token ${i}`, i);
      expect(recent.size).toBeLessThanOrEqual(10);
      expect(recent.get("asked for")).toBe(-1);
    }
    expect(recent.get("token 999")).toBe(999);
    expect(recent.get("token 0")).toBeUndefined();
  });

  it("is forgotten when nobody asks for it", () => {
    const recent = new Recent<number>(10);
    recent.set("left alone", 1);
    for (let i = 0; i < 10; i++) recent.set(`token ${i}`, i);
    expect(recent.get("left alone")).toBeUndefined();
  });

  it("is one configuration's, and no other's", () => {
    const of = recentOf<number>();
    const config = testConfig();
    of(config).set("token", 1);
    expect(of(config).get("token")).toBe(1);
    expect(of(testConfig()).get("token")).toBeUndefined(); // though all that it says is the same
  });
});
