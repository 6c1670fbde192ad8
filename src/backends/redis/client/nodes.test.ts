import { describe, expect, it } from "vitest";
import { parseHost, RedisNodes } from "./nodes.ts";

const node = (port: number, host = "a") => ({ host, port });

/** Returns the nodes that are used when one connection after another is lost. */
function rotation(nodes: RedisNodes, count: number) {
  return Array.from({ length: count }, () => {
    nodes.rotate();
    return nodes.current;
  });
}

describe("the nodes of a connection", () => {
  it("are the hosts of the URL, one after another", () => {
    const nodes = new RedisNodes(["a:1", "a:2", "[::1]"]);
    expect(nodes.current).toEqual(node(1));
    expect(rotation(nodes, 4)).toEqual([node(2), node(6379, "::1"), node(1), node(2)]);
  });

  it("are one host only if there are no others", () => {
    const nodes = new RedisNodes(["a"]);
    expect(rotation(nodes, 2)).toEqual([node(6379), node(6379)]);
  });

  it("change to the one that a redirection names, then to those before", () => {
    const nodes = new RedisNodes(["a:1", "a:2"]);
    expect(nodes.follow("MOVED 3999 b:3")).toBe(true);
    expect(nodes.current).toEqual(node(3, "b"));
    expect(rotation(nodes, 3)).toEqual([node(1), node(2), node(3, "b")]);
  });

  it.each([
    ["without a host, that of the server which sent it", "MOVED 3999 :3", node(3)],
    ["to an address of IPv6", "MOVED 3999 ::1:3", node(3, "::1")],
  ])("follow a redirection %s", (_, message, target) => {
    const nodes = new RedisNodes(["a:1"]);
    expect(nodes.follow(message)).toBe(true);
    expect(nodes.current).toEqual(target);
  });

  it.each(["MOVED 3999 ?:3", "MOVED 3999", "ASK 3999 b:3"])("do not follow %s", (message) => {
    const nodes = new RedisNodes(["a:1"]);
    expect(nodes.follow(message)).toBe(false);
    expect(nodes.current).toEqual(node(1));
  });

  it("are those of the cluster and the hosts of the URL when the cluster has listed them", () => {
    const nodes = new RedisNodes(["a:1", "seed:1"]);
    nodes.learn(
      [
        "07c3 10.0.0.1:3@13 master - 0 1426238317239 4 connected",
        "67ed 10.0.0.2:4@14,db.example,tls-port=0 slave 07c3 0 1426238316232 2 connected",
        "292f :0@0 slave,fail,noaddr 07c3 0 0 2 disconnected",
        "6ec2 a:1@11 myself,master - 0 0 1 connected 0-5460",
        "",
      ].join("\n"),
    );
    expect(rotation(nodes, 4)).toEqual([node(3, "10.0.0.1"), node(4, "db.example"), node(1, "seed"), node(1)]);
  });
});

describe("a host of a URL", () => {
  it.each([
    ["a", node(6379)],
    ["a:7", node(7)],
    ["[::1]:7", node(7, "::1")],
  ])("%s has the port that it names, or 6379", (text, parsed) => {
    expect(parseHost(text)).toEqual(parsed);
  });
});
