import { beforeEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, createTestApp } from "#test/compiled-app";
import { checkSecurityOptions, createSecurityHeaders, type SecurityOptions } from "./security-headers.ts";

const facts = { development: false, secure: false };
const headersOf = (...said: SecurityOptions[]) => Object.fromEntries(createSecurityHeaders(facts, ...said));
const policyOf = (...said: SecurityOptions[]) => headersOf(...said)["content-security-policy"];

describe("what answers say for security", () => {
  it("is this, unless something else is said", () => {
    expect(headersOf()).toEqual({
      "content-security-policy":
        "default-src 'self'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; object-src 'none'; " +
        "base-uri 'none'; form-action 'self'; frame-ancestors 'self'; img-src 'self' data: https:",
      "x-content-type-options": "nosniff",
      "x-frame-options": "SAMEORIGIN",
      "referrer-policy": "strict-origin-when-cross-origin",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": "camera=(), geolocation=(), microphone=()",
    });
  });

  it("asks for HTTPS where visitors come over it", () => {
    const lines = Object.fromEntries(createSecurityHeaders({ development: false, secure: true }));
    expect(lines["strict-transport-security"]).toBe("max-age=31536000");
  });

  it("lets the build tool's styles and worker in while it is developed, beside what is said", () => {
    const development = (...said: SecurityOptions[]) =>
      Object.fromEntries(createSecurityHeaders({ development: true, secure: false }, ...said))[
        "content-security-policy"
      ];
    expect(development()).toContain("style-src 'self' 'unsafe-inline';");
    expect(development()).toMatch(/; worker-src 'self' blob:$/);
    expect(development({ policy: { "style-src": "https://fonts.example" } })).toContain(
      "style-src https://fonts.example 'unsafe-inline';",
    );
    expect(development({ policy: { "style-src": null } })).not.toContain("style-src ");
  });

  it("changes by a directive at a time, the page's before the application's", () => {
    expect(policyOf({ policy: { "img-src": "'self'" } })).toMatch(/frame-ancestors 'self'; img-src 'self'$/);
    expect(policyOf({ policy: { "img-src": null, "object-src": null } })).not.toMatch(/img-src|object-src/);
    expect(policyOf({ policy: { "connect-src": "'self' https://api.example" } })).toMatch(
      /; connect-src 'self' https:\/\/api\.example$/,
    );
    expect(policyOf({ policy: { "upgrade-insecure-requests": "" } })).toMatch(/; upgrade-insecure-requests$/);
    expect(policyOf({ policy: { "img-src": "a" } }, { policy: { "img-src": "b" } })).toMatch(/img-src b$/);
  });

  it("changes by a header at a time, whatever the case of its name", () => {
    const lines = headersOf({ headers: { "X-Frame-Options": null, "referrer-policy": "no-referrer" } });
    expect(lines).not.toHaveProperty("x-frame-options");
    expect(lines["referrer-policy"]).toBe("no-referrer");
    expect(headersOf({ headers: { "content-security-policy": null } })).not.toHaveProperty("content-security-policy");
    expect(policyOf({ headers: { "Content-Security-Policy": "default-src *" } })).toBe("default-src *");
    expect(headersOf({ headers: { "x-robots-tag": "noindex" } })["x-robots-tag"]).toBe("noindex");
  });
});

describe("what cannot be said", () => {
  it.each<[string, SecurityOptions]>([
    ["a directive that begins another", { policy: { "img-src": "'self'; script-src *" } }],
    ["a directive that begins another policy", { policy: { "img-src": "'self', script-src *" } }],
    ["a line break in a directive", { policy: { "img-src": "a\r\nset-cookie: b" } }],
    ["a directive that is none", { policy: { "img src": "a" } }],
    ["a directive's name with a semicolon", { policy: { "a;b": "c" } }],
    ["a directive that is a list", { policy: { "img-src": ["a"] as unknown as string } }],
    ["a line break in a header", { headers: { "x-a": "b\r\nset-cookie: c" } }],
    ["a header's name that is none", { headers: { "x a": "b" } }],
    ["an empty header", { headers: { "x-a": "" } }],
    ["a header beyond ASCII", { headers: { "x-a": "é" } }],
    ["a header that is undefined", { headers: { "x-a": undefined as unknown as string } }],
    ["a cookie", { headers: { "Set-Cookie": "a=b" } }],
    ["the length", { headers: { "content-length": "1" } }],
    ["the id", { headers: { "x-request-id": null } }],
  ])("is %s", (_what, options) => {
    expect(() => checkSecurityOptions(options, "new App")).toThrow(/^new App: /);
  });

  it("is an error where it is said", () => {
    expect(() => createTestApp({ home: compiledPage("/", () => "home") }, { headers: { "x a": "b" } })).toThrow(
      'new App: the header "x a"',
    );
    expect(() => compiledPage("/a", () => "a", { policy: { "a;": "b" } })).toThrow('page("/a"): "a;" of the policy');
  });
});

describe("an application that says something of its own", () => {
  const modules = {
    plain: compiledPage("/plain", () => "plain"),
    framed: compiledPage("/framed", () => "framed", {
      policy: { "frame-ancestors": "https://partner.example" },
      headers: { "x-frame-options": null },
    }),
    broken: compiledPage("/broken", () => Promise.reject(new Error("no")), { headers: { "x-frame-options": null } }),
    own: compiledRoute("GET /own", () => new Response("own", { headers: { "referrer-policy": "origin" } })),
  };
  const app = createTestApp(modules, { headers: { "referrer-policy": "no-referrer" } });
  beforeEach(() => {
    vi.spyOn(console, "error").mockImplementation(() => undefined); // one page fails
  });
  const at = async (path: string) => (await app.fetch(new Request(`http://shop.example${path}`))).headers;

  it("says it with every answer", async () => {
    for (const path of ["/plain", "/nowhere", "/healthz", "/framed", "/__web/live", "/a%00b"]) {
      expect((await at(path)).get("referrer-policy")).toBe("no-referrer");
      expect((await at(path)).get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("says what a page says with that page alone", async () => {
    expect((await at("/framed")).get("content-security-policy")).toContain("frame-ancestors https://partner.example;");
    expect((await at("/framed")).get("x-frame-options")).toBeNull();
    expect((await at("/broken")).get("x-frame-options")).toBeNull();
    expect((await at("/plain")).get("x-frame-options")).toBe("SAMEORIGIN");
  });

  it("leaves a route what it says itself", async () => {
    expect((await at("/own")).get("referrer-policy")).toBe("origin");
  });
});
