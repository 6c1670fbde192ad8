import { describe, expect, it } from "vitest";
import { testConfig } from "#test/request-context";
import { cachePerConfig, LruCache } from "./lru-cache.ts";

describe("LruCache", () => {
  it("returns a value for exactly its key", () => {
    const cache = new LruCache<number>(10);
    cache.set("token", 1);
    expect(cache.get(["to", "ken"].join(""))).toBe(1);
    for (const key of ["tokem", "Token", "token ", "toke", "", "__proto__"]) expect(cache.get(key)).toBeUndefined();
  });

  it("is bounded, and keeps recently used entries", () => {
    const cache = new LruCache<number>(10);
    cache.set("used", -1);
    for (let i = 0; i < 1000; i++) {
      cache.set(`token ${i}`, i);
      expect(cache.size).toBeLessThanOrEqual(10);
      expect(cache.get("used")).toBe(-1);
    }
    expect(cache.get("token 999")).toBe(999);
    expect(cache.get("token 0")).toBeUndefined();
  });

  it("evicts an entry that is not used", () => {
    const cache = new LruCache<number>(10);
    cache.set("unused", 1);
    for (let i = 0; i < 10; i++) cache.set(`token ${i}`, i);
    expect(cache.get("unused")).toBeUndefined();
  });

  it("has at most 2,000 entries for each configuration, whatever number of tokens is verified", () => {
    const cache = cachePerConfig<number>()(testConfig());
    for (let i = 0; i < 5000; i++) cache.set(`token ${i}`, i);
    expect(cache.size).toBeLessThanOrEqual(2000);
    expect(cache.get("token 4999")).toBe(4999);
  });

  it("is not shared between configurations, even equal ones", () => {
    const cacheOf = cachePerConfig<number>();
    const config = testConfig();
    cacheOf(config).set("token", 1);
    expect(cacheOf(config).get("token")).toBe(1);
    expect(cacheOf(testConfig()).get("token")).toBeUndefined();
  });
});
