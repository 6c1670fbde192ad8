import { beforeEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, createTestApp } from "#test/compiled-app";
import {
  checkSecurityOptions,
  createDataHeaders,
  createSecurityHeaders,
  developmentPolicy,
  parsePolicy,
  type SecurityOptions,
} from "./security-headers.ts";

const environment = { buildTool: null, secure: false };
const headersOf = (...options: SecurityOptions[]) => Object.fromEntries(createSecurityHeaders(environment, ...options));
const policyOf = (...options: SecurityOptions[]) => headersOf(...options)["content-security-policy"];

describe("the security headers of data", () => {
  const dataHeadersOf = (options?: SecurityOptions, secure = false) =>
    Object.fromEntries(createDataHeaders({ secure }, options));
  const defaults = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
  };

  it("allow nothing to load, run or be framed, and forbid other types and other sites [SITE-24]", () => {
    expect(dataHeadersOf()).toEqual(defaults);
    expect(dataHeadersOf({}, true)).toEqual({ ...defaults, "strict-transport-security": "max-age=31536000" });
  });

  it("are changed by the option headers, regardless of the case of their names", () => {
    const changes = { "Cross-Origin-Resource-Policy": "cross-origin", "X-Robots-Tag": "noindex" };
    expect(dataHeadersOf({ headers: changes })).toEqual({
      ...defaults,
      "cross-origin-resource-policy": "cross-origin",
      "x-robots-tag": "noindex",
    });
    expect(
      dataHeadersOf({ headers: { "x-content-type-options": null, "strict-transport-security": null } }, true),
    ).toEqual({
      "content-security-policy": defaults["content-security-policy"],
      "cross-origin-resource-policy": "same-origin",
    });
  });

  it.each([
    ["Content-Security-Policy", "default-src *"],
    ["content-security-policy", null],
    ["X-Frame-Options", "DENY"],
    ["referrer-policy", "no-referrer"],
    ["cross-origin-opener-policy", "unsafe-none"],
    ["permissions-policy", "camera=*"],
  ])("are not changed by %s: %j, which is for documents", (name, value) => {
    expect(dataHeadersOf({ headers: { [name]: value } })).toEqual(defaults);
  });

  it("are not changed by the option policy", () => {
    expect(dataHeadersOf({ policy: { "default-src": "*" } })).toEqual(defaults);
  });
});

describe("the security headers", () => {
  it("have secure defaults: no inline script, no framing by other sites [SITE-26]", () => {
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

  it("require HTTPS (HSTS) if clients connect over it", () => {
    const headers = Object.fromEntries(createSecurityHeaders({ buildTool: null, secure: true }));
    expect(headers["strict-transport-security"]).toBe("max-age=31536000");
  });

  it("allow the elements of the build tool in development by a nonce, also with a policy of the application", () => {
    const buildTool = { nonce: "abc", reportPath: "/reports" };
    const development = (...options: SecurityOptions[]) =>
      Object.fromEntries(createSecurityHeaders({ buildTool, secure: false }, ...options))["content-security-policy"];
    expect(development()).toBe(
      `${policyOf()}; script-src-elem 'self' 'nonce-abc'; style-src-elem 'self' 'nonce-abc'; report-uri /reports`,
    );
    expect(development({ headers: { "Content-Security-Policy": "style-src a.example" } })).toBe(
      "style-src a.example; style-src-elem a.example 'nonce-abc'; report-uri /reports",
    );
    expect(development({ headers: { "content-security-policy": null } })).toBeUndefined();
  });

  it("change one directive at a time, and the page's option takes precedence over the application's", () => {
    expect(policyOf({ policy: { "img-src": "'self'" } })).toMatch(/frame-ancestors 'self'; img-src 'self'$/);
    expect(policyOf({ policy: { "img-src": null, "object-src": null } })).not.toMatch(/img-src|object-src/);
    expect(policyOf({ policy: { "connect-src": "'self' https://api.example" } })).toMatch(
      /; connect-src 'self' https:\/\/api\.example$/,
    );
    expect(policyOf({ policy: { "upgrade-insecure-requests": "" } })).toMatch(/; upgrade-insecure-requests$/);
    expect(policyOf({ policy: { "img-src": "a" } }, { policy: { "img-src": "b" } })).toMatch(/img-src b$/);
  });

  it("change one header at a time, regardless of the case of its name", () => {
    const headers = headersOf({ headers: { "X-Frame-Options": null, "referrer-policy": "no-referrer" } });
    expect(headers).not.toHaveProperty("x-frame-options");
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect(headersOf({ headers: { "content-security-policy": null } })).not.toHaveProperty("content-security-policy");
    expect(policyOf({ headers: { "Content-Security-Policy": "default-src *" } })).toBe("default-src *");
    expect(headersOf({ headers: { "x-robots-tag": "noindex" } })["x-robots-tag"]).toBe("noindex");
  });
});

describe("the security options", () => {
  it.each<[string, SecurityOptions]>([
    ["a directive that starts another directive", { policy: { "img-src": "'self'; script-src *" } }],
    ["a directive that starts another policy", { policy: { "img-src": "'self', script-src *" } }],
    ["a line break in a directive", { policy: { "img-src": "a\r\nset-cookie: b" } }],
    ["an invalid directive name", { policy: { "img src": "a" } }],
    ["a directive name with a semicolon", { policy: { "a;b": "c" } }],
    ["a directive that is a list", { policy: { "img-src": ["a"] as unknown as string } }],
    ["a line break in a header", { headers: { "x-a": "b\r\nset-cookie: c" } }],
    ["an invalid header name", { headers: { "x a": "b" } }],
    ["an empty header", { headers: { "x-a": "" } }],
    ["a header with a character outside ASCII", { headers: { "x-a": "é" } }],
    ["a header that is undefined", { headers: { "x-a": undefined as unknown as string } }],
    ["the header Set-Cookie", { headers: { "Set-Cookie": "a=b" } }],
    ["the header Content-Length", { headers: { "content-length": "1" } }],
    ["the header X-Request-Id", { headers: { "x-request-id": null } }],
  ])("refuse %s", (_what, options) => {
    expect(() => checkSecurityOptions(options, "new App")).toThrow(/^new App: /);
  });

  it("throw in new App or page, and the error names it", () => {
    expect(() => createTestApp({ home: compiledPage("/", () => "home") }, { headers: { "x a": "b" } })).toThrow(
      'new App: the header "x a"',
    );
    expect(() => compiledPage("/a", () => "a", { policy: { "a;": "b" } })).toThrow('page("/a"): "a;" of the policy');
  });
});

describe("an application with security options", () => {
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

  it("applies them to every response", async () => {
    for (const path of ["/plain", "/nowhere", "/healthz", "/framed", "/__web/live", "/a%00b"]) {
      const headers = await at(path);
      const isData = headers.get("content-type") === "application/json";
      expect(headers.get("referrer-policy")).toBe(isData ? null : "no-referrer");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("applies the options of a page to that page only", async () => {
    expect((await at("/framed")).get("content-security-policy")).toContain("frame-ancestors https://partner.example;");
    expect((await at("/framed")).get("x-frame-options")).toBeNull();
    expect((await at("/broken")).get("x-frame-options")).toBeNull();
    expect((await at("/plain")).get("x-frame-options")).toBe("SAMEORIGIN");
  });

  it("keeps a security header that a route sets itself", async () => {
    expect((await at("/own")).get("referrer-policy")).toBe("origin");
  });
});

const access = { nonce: "abc", reportPath: "/reports" };
const REPORT = "report-uri /reports";

describe("the policy of the development server", () => {
  it.each([
    ["style-src 'self'", `style-src 'self'; style-src-elem 'self' 'nonce-abc'; ${REPORT}`],
    ["style-src 'none'", `style-src 'none'; style-src-elem 'nonce-abc'; ${REPORT}`],
    ["style-src", `style-src; style-src-elem 'nonce-abc'; ${REPORT}`],
    ["style-src-elem https://a.example", `style-src-elem https://a.example 'nonce-abc'; ${REPORT}`],
    ["script-src 'self'", `script-src 'self'; script-src-elem 'self' 'nonce-abc'; ${REPORT}`],
    ["default-src 'none'", `default-src 'none'; script-src-elem 'nonce-abc'; style-src-elem 'nonce-abc'; ${REPORT}`],
    [
      "default-src 'self'; style-src-elem 'sha256-x'",
      `default-src 'self'; style-src-elem 'sha256-x' 'nonce-abc'; script-src-elem 'self' 'nonce-abc'; ${REPORT}`,
    ],
  ])("of %j has only the nonce for elements and the path for reports in addition", (policy, expected) => {
    expect(developmentPolicy(policy, access)).toBe(expected);
  });

  it.each(["img-src 'self'", "frame-ancestors 'self'", ""])(
    "of %j has no nonce, because it restricts neither scripts nor styles",
    (policy) => {
      expect(developmentPolicy(policy, access)).not.toContain("nonce");
    },
  );

  it("keeps 'unsafe-inline' of the application, which a nonce would disable", () => {
    expect(developmentPolicy("style-src 'self' 'unsafe-inline'", access)).toBe(
      `style-src 'self' 'unsafe-inline'; ${REPORT}`,
    );
  });

  it("never has 'unsafe-inline', 'unsafe-eval', blob: or data: that the application's policy does not have [DEV-22]", () => {
    for (const policy of ["default-src 'self'", "default-src 'none'; connect-src 'self'", "script-src 'self'"]) {
      expect(developmentPolicy(policy, access)).not.toMatch(/unsafe|blob:|data:/);
    }
  });

  it("sends reports to the development server, and not to the endpoint of production", () => {
    expect(developmentPolicy("report-to main; report-uri https://r.example/", access)).toBe(REPORT);
  });

  it("is added to each of several policies", () => {
    expect(developmentPolicy("style-src 'self', style-src a.example", access)).toBe(
      `style-src 'self'; style-src-elem 'self' 'nonce-abc'; ${REPORT}, ` +
        `style-src a.example; style-src-elem a.example 'nonce-abc'; ${REPORT}`,
    );
  });
});

it("of two directives with one name, the first applies, regardless of its case", () => {
  expect([...parsePolicy(" Img-Src a  b ;; img-src c;object-src")]).toEqual([
    ["img-src", ["a", "b"]],
    ["object-src", []],
  ]);
});
