import { describe, expect, it } from "vitest";
import { formatServerUrl, parseServerUrl } from "./bus-url.ts";

describe("the URL of a bus", () => {
  it.each([
    ["redis://a", ["a"]],
    ["redis://u:p%40ss@a:1,b:2/1?family=6", ["a:1", "b:2"]],
    ["redis://:p,q@a:1,b:2", ["a:1", "b:2"]],
    ["rediss://a,[::1]:6380,c:3?sentinel=main", ["a", "[::1]:6380", "c:3"]],
    ["nats://a:4222,b:4222,c:4222", ["a:4222", "b:4222", "c:4222"]],
    ["tls://token@a,b", ["a", "b"]],
  ])("%s has the hosts %j, and is the same when it is formatted", (text, hosts) => {
    const server = parseServerUrl(text);
    expect(server?.hosts).toEqual(hosts);
    expect(server?.url.host).toBe(hosts[0]);
    expect(server && formatServerUrl(server)).toBe(text);
  });

  it.each([
    "",
    "redis://",
    "redis://a,",
    "redis://,a",
    "redis://a:x",
    "redis://a,b:x",
    "redis://a b",
    "http://a",
    "a:1",
  ])("is not %j", (text) => {
    expect(parseServerUrl(text)).toBeUndefined();
  });

  it("has a password with the characters / ? # @ only if they are percent-encoded", () => {
    expect(parseServerUrl("redis://:a%2Fb%3Fc%23d%40e@h")?.url.password).toBe("a%2Fb%3Fc%23d%40e");
    expect(parseServerUrl("redis://:a/b@h")).toBeUndefined();
  });

  it.each(["nats://ada:100%@h", "redis://:%zz@h", "tls://a%b:c@h"])(
    "has no % in its credentials that encodes nothing: %s",
    (text) => {
      expect(parseServerUrl(text)).toBeUndefined();
      expect(parseServerUrl(text.replace("%", "%25"))).toBeDefined();
    },
  );
});
