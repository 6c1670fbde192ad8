import { describe, expect, it } from "vitest";
import { concurrencyLimit } from "./concurrency-limit.ts";

describe("what a client holds open", () => {
  it("is taken up to the most, refused beyond it, and taken again once one was given back", () => {
    const open = concurrencyLimit(3);
    const taken = [1, 2, 3, 4].map(() => open.acquire("10.0.0.1"));
    expect(taken.map((release) => release !== null)).toEqual([true, true, true, false]);
    expect(open.size).toBe(3);
    taken[0]?.();
    expect(open.size).toBe(2);
    expect(open.acquire("10.0.0.1")).not.toBeNull();
    expect(open.acquire("10.0.0.1")).toBeNull();
  });

  it("is given back once, however often it is said", () => {
    const open = concurrencyLimit(2);
    const release = open.acquire("10.0.0.1");
    open.acquire("10.0.0.1");
    release?.();
    release?.();
    expect(open.size).toBe(1);
    expect(open.acquire("10.0.0.1")).not.toBeNull();
    expect(open.acquire("10.0.0.1")).toBeNull();
  });

  it("is counted by client, of IPv6 by its first 64 bits", () => {
    const open = concurrencyLimit(1);
    const taken = ["10.0.0.1", "10.0.0.2", "2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"].filter(
      (address) => open.acquire(address),
    );
    expect(taken).toEqual(["10.0.0.1", "10.0.0.2", "2001:db8:1:2::1", "2001:db8:1:3::1"]);
    expect(open.size).toBe(4);
  });

  it("is forgotten with its client", () => {
    const open = concurrencyLimit(2);
    for (let at = 0; at < 1000; at++) open.acquire(`10.0.${at >> 8}.${at & 255}`)?.();
    expect(open.size).toBe(0);
  });
});
