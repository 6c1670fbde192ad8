import { describe, expect, it } from "vitest";
import { concurrencyLimit } from "./concurrency-limit.ts";

describe("concurrencyLimit", () => {
  it("accepts streams up to the limit, refuses the next one, and accepts one again after a release [REQUEST-59]", () => {
    const limit = concurrencyLimit(3);
    const releases = [1, 2, 3, 4].map(() => limit.acquire("10.0.0.1"));
    expect(releases.map((release) => release !== null)).toEqual([true, true, true, false]);
    expect(limit.size).toBe(3);
    releases[0]?.();
    expect(limit.size).toBe(2);
    expect(limit.acquire("10.0.0.1")).not.toBeNull();
    expect(limit.acquire("10.0.0.1")).toBeNull();
  });

  it("releases a stream once, also when the release function is called twice", () => {
    const limit = concurrencyLimit(2);
    const release = limit.acquire("10.0.0.1");
    limit.acquire("10.0.0.1");
    release?.();
    release?.();
    expect(limit.size).toBe(1);
    expect(limit.acquire("10.0.0.1")).not.toBeNull();
    expect(limit.acquire("10.0.0.1")).toBeNull();
  });

  it("counts by client, and IPv6 clients by their first 64 bits", () => {
    const limit = concurrencyLimit(1);
    const accepted = ["10.0.0.1", "10.0.0.2", "2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"].filter(
      (address) => limit.acquire(address),
    );
    expect(accepted).toEqual(["10.0.0.1", "10.0.0.2", "2001:db8:1:2::1", "2001:db8:1:3::1"]);
    expect(limit.size).toBe(4);
  });

  it("has a size of zero after 1,000 clients have released their streams", () => {
    const limit = concurrencyLimit(2);
    for (let client = 0; client < 1000; client++) limit.acquire(`10.0.${client >> 8}.${client & 255}`)?.();
    expect(limit.size).toBe(0);
  });
});
