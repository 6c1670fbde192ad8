import { describe, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { requestContextOf } from "#test/request-context";
import { isSameOrigin, requireSameOrigin, siteOrigins } from "./origin.ts";

describe("isSameOrigin", () => {
  const sites = ["https://shop.example", "https://www.shop.example"];
  it.each([
    // Origin, Sec-Fetch-Site, expected result
    ["https://shop.example", null, true],
    ["https://www.shop.example", "same-site", true],
    ["https://shop.example", "cross-site", true], // the Origin header takes precedence
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
  ])("for Origin %j and Sec-Fetch-Site %j returns %s", (origin, fetchSite, expected) => {
    expect(isSameOrigin({ origin, fetchSite, sites })).toBe(expected);
  });

  it("refuses every origin if the list of site origins is empty [SITE-2]", () => {
    expect(isSameOrigin({ origin: "https://shop.example", fetchSite: null, sites: [] })).toBe(false);
  });
});

describe("siteOrigins", () => {
  const input = {
    configured: [],
    connection: "http://10.0.0.2:3000",
    forwardedProto: "https",
    forwardedHost: "shop.example",
    trustProxy: 0,
  };

  it("returns the configured origins regardless of the connection and forwarded headers", () => {
    expect(siteOrigins({ ...input, configured: ["https://a.example"], trustProxy: 1 })).toEqual(["https://a.example"]);
  });

  it("ignores forwarded headers without a trusted proxy", () => {
    expect(siteOrigins(input)).toEqual(["http://10.0.0.2:3000"]);
  });

  it("uses the entry of the nearest proxy if one is trusted", () => {
    expect(siteOrigins({ ...input, trustProxy: 1 })).toEqual(["https://shop.example"]);
    expect(siteOrigins({ ...input, trustProxy: 1, forwardedHost: "evil.example, shop.example" })).toEqual([
      "https://shop.example",
    ]);
  });

  it("takes the scheme or host of the connection if its forwarded header is missing", () => {
    expect(siteOrigins({ ...input, trustProxy: 1, forwardedProto: null, forwardedHost: null })).toEqual([
      "http://10.0.0.2:3000",
    ]);
    expect(siteOrigins({ ...input, trustProxy: 1, forwardedHost: null })).toEqual(["https://10.0.0.2:3000"]);
  });

  it("returns no origin if the forwarded headers are not a valid origin", () => {
    expect(siteOrigins({ ...input, trustProxy: 1, forwardedProto: "gopher" })).toEqual([]);
    expect(siteOrigins({ ...input, trustProxy: 1, forwardedHost: "a b" })).toEqual([]);
  });

  it("omits the default port, as browsers do in Origin", () => {
    expect(siteOrigins({ ...input, trustProxy: 1, forwardedHost: "shop.example:443" })).toEqual([
      "https://shop.example",
    ]);
  });
});

it("logs at most 300 characters of each header of a rejected request, because these requests are not limited by a rate", () => {
  const { log, lines } = recordedLog();
  const headers = { origin: `https://${"a".repeat(5000)}.example`, "sec-fetch-site": "b".repeat(5000) };
  const context = requestContextOf(new Request("http://localhost/__web/rpc/f", { method: "POST", headers }));
  expect(() => requireSameOrigin(context, log, "call")).toThrow("Calls from another site are not allowed.");
  const [line] = lines;
  expect(line?.fields).toMatchObject({ origin: headers.origin.slice(0, 300), fetchSite: "b".repeat(300) });
  expect(JSON.stringify(line).length).toBeLessThan(1500);
});
