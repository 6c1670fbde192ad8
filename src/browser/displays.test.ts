import { describe, expect, it } from "vitest";
import type { DisplayRequest, Tab } from "./live-listeners.ts";
import { advanceDisplays } from "./live-tabs.ts";

describe("what a tab displays, for the tab that has the connection", () => {
  const display = (key: string, token: string): DisplayRequest => ({ member: "queries", event: "query", key, token });
  const tokensAfter = (content: object, token = "t.mac~v1") => {
    const tab: Tab = { id: "a", version: 0, displays: [display("one", token), display("two", "u.mac~v1")] };
    advanceDisplays(tab, { event: "query", channel: "one", content });
    return tab.displays?.map((each) => each.token);
  };

  it("has the version of the last frame", () => {
    expect(tokensAfter({ v: "v2", value: 2 })).toEqual(["t.mac~v2", "u.mac~v1"]);
    expect(tokensAfter({ v: "v2" }, "t.mac")).toEqual(["t.mac~v2", "u.mac~v1"]);
  });

  it("has none after an error, so that any process sends a frame that ends it", () => {
    expect(tokensAfter({ error: { code: "internal", message: "No.", details: {} } })).toEqual(["t.mac", "u.mac~v1"]);
  });

  it("stays for frames without either, and those of another type", () => {
    expect(tokensAfter({ stale: "b6" })).toEqual(["t.mac~v1", "u.mac~v1"]);
    const tab: Tab = { id: "a", version: 0, displays: [display("one", "t.mac~v1")] };
    advanceDisplays(tab, { event: "presence", channel: "one", content: { v: "v2" } });
    expect(tab.displays).toEqual([display("one", "t.mac~v1")]);
  });
});
