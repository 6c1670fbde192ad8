import { describe, expect, it } from "vitest";
import { isSameOrigin, siteOrigins } from "./origin.ts";

describe("isSameOrigin", () => {
  const sites = ["https://shop.example", "https://www.shop.example"];
  it.each([
    // origin, Sec-Fetch-Site, passes
    ["https://shop.example", null, true],
    ["https://www.shop.example", "same-site", true],
    ["https://shop.example", "cross-site", true], // the Origin header decides where there is one
    ["https://evil.example", null, false],
    ["https://evil.example", "same-origin", false],
    ["null", null, false],
    ["null", "same-origin", false],
    ["", null, false],
    ["http://shop.example", null, false],
    ["https://shop.example:444", null, false],
    ["https://shop.example.evil.example", null, false],
    ["https://SHOP.example", null, false],
    ["https://shop.example/", null, false],
    [null, null, true],
    [null, "same-origin", true],
    [null, "none", true],
    [null, "same-site", false],
    [null, "cross-site", false],
    [null, "", false],
    [null, "SAME-ORIGIN", false],
  ])("Origin %j, Sec-Fetch-Site %j: %s", (origin, fetchSite, passes) => {
    expect(isSameOrigin({ origin, fetchSite, sites })).toBe(passes);
  });

  it("refuses every origin when no site is known", () => {
    expect(isSameOrigin({ origin: "https://shop.example", fetchSite: null, sites: [] })).toBe(false);
  });
});

describe("siteOrigins", () => {
  const facts = {
    configured: [],
    connection: "http://10.0.0.2:3000",
    forwardedProto: "https",
    forwardedHost: "shop.example",
    trustProxy: 0,
  };

  it("is what is configured, whatever the connection says", () => {
    expect(siteOrigins({ ...facts, configured: ["https://a.example"], trustProxy: 1 })).toEqual(["https://a.example"]);
  });

  it("does not believe forwarded headers without a trusted proxy", () => {
    expect(siteOrigins(facts)).toEqual(["http://10.0.0.2:3000"]);
  });

  it("believes the nearest proxy when one is trusted", () => {
    expect(siteOrigins({ ...facts, trustProxy: 1 })).toEqual(["https://shop.example"]);
    expect(siteOrigins({ ...facts, trustProxy: 1, forwardedHost: "evil.example, shop.example" })).toEqual([
      "https://shop.example",
    ]);
  });

  it("falls back to the connection, part by part", () => {
    expect(siteOrigins({ ...facts, trustProxy: 1, forwardedProto: null, forwardedHost: null })).toEqual([
      "http://10.0.0.2:3000",
    ]);
    expect(siteOrigins({ ...facts, trustProxy: 1, forwardedHost: null })).toEqual(["https://10.0.0.2:3000"]);
  });

  it("knows no site when the proxy's words make no origin", () => {
    expect(siteOrigins({ ...facts, trustProxy: 1, forwardedProto: "gopher" })).toEqual([]);
    expect(siteOrigins({ ...facts, trustProxy: 1, forwardedHost: "a b" })).toEqual([]);
  });

  it("drops the default port, as browsers do in Origin", () => {
    expect(siteOrigins({ ...facts, trustProxy: 1, forwardedHost: "shop.example:443" })).toEqual([
      "https://shop.example",
    ]);
  });
});
