/** Test cases: which origins may call functions. @see docs/protocol.md 8.1 to 8.3 */
import assert from "node:assert/strict";
import {
  assertNoCorsHeaders,
  type CaseOptions,
  callRequest,
  expectError,
  expectResult,
  type Target,
  type WireCase,
  wireCase,
} from "./exchange.ts";

type RequestHeaders = (target: Target) => Readonly<Record<string, string>>;

const accepts = (source: string, headers: RequestHeaders, options?: CaseOptions): WireCase =>
  wireCase(
    `accepts a call ${source}`,
    async (target) => void (await expectResult(target, "ping", {}, headers(target))),
    options,
  );

const rejects = (source: string, headers: RequestHeaders, options?: CaseOptions): WireCase =>
  wireCase(
    `rejects a call ${source} with 403, and does not run the function [SITE-1]`,
    async (target) => {
      const before = (await expectResult(target, "runs_of", { name: "ping" })).value;
      await expectError(target, callRequest("ping", {}, headers(target)), {
        status: 403,
        code: "forbidden",
        closes: true,
      });
      const after = (await expectResult(target, "runs_of", { name: "ping" })).value;
      if (before !== after) throw new Error("The function has run.");
    },
    options,
  );

const withOtherPort = ({ origin }: Target) => origin.replace(/(:\d+)?$/, ":1");

const plainCases: readonly WireCase[] = [
  accepts("of a script, without Origin and Sec-Fetch-Site", () => ({})),
  accepts("of a page of this site", ({ origin }) => ({ origin, "sec-fetch-site": "same-origin" }), {
    hostDependent: true,
  }),
  accepts("of a page of this site, with Origin only, as older browsers send it", ({ origin }) => ({ origin })),
  accepts("with Sec-Fetch-Site: same-origin only", () => ({ "sec-fetch-site": "same-origin" })),
  accepts("with Sec-Fetch-Site: none", () => ({ "sec-fetch-site": "none" })),
  accepts(
    "whose Origin matches its Host header",
    () => ({
      host: "other.example:8080",
      origin: "http://other.example:8080",
    }),
    { hostDependent: true },
  ),
  rejects("with Origin: null", () => ({ origin: "null" })),
  rejects("with an empty Origin", () => ({ origin: "" }), { hostDependent: true }),
  rejects("of another site", () => ({ origin: "https://evil.example" })),
  rejects("of another site with Sec-Fetch-Site: same-origin", () => ({
    origin: "https://evil.example",
    "sec-fetch-site": "same-origin",
  })),
  rejects("from another port of this host", (target) => ({ origin: withOtherPort(target) })),
  rejects("from another scheme of this host", ({ origin }) => ({ origin: origin.replace("http:", "https:") })),
  rejects("from an origin that starts with the origin of this site", ({ origin }) => ({
    origin: `${origin}.evil.example`,
  })),
  rejects("with two origins", ({ origin }) => ({ origin: `${origin} https://evil.example` })),
  rejects("with a path in Origin", ({ origin }) => ({ origin: `${origin}/` })),
  rejects("with Sec-Fetch-Site: same-site, without Origin", () => ({ "sec-fetch-site": "same-site" })),
  rejects("with Sec-Fetch-Site: cross-site, without Origin", () => ({ "sec-fetch-site": "cross-site" })),
  rejects("with an unknown value of Sec-Fetch-Site", () => ({ "sec-fetch-site": "x" })),
  rejects("whose Origin matches X-Forwarded-Host, without a trusted proxy", () => ({
    origin: "https://evil.example",
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "https",
  })),
  wireCase(
    "sends no CORS header to a page of another site, for any request [SITE-8]",
    async (target) => {
      const origin = "https://evil.example";
      const preflight = { origin, "access-control-request-method": "POST" };
      for (const request of [
        callRequest("ping", {}, { origin }),
        { method: "OPTIONS", path: "/__web/rpc/ping", headers: preflight },
        { path: "/", headers: { origin } },
        { path: "/nowhere", headers: { origin } },
        { path: "/robots.txt", headers: { origin } },
        { method: "POST", path: "/hooks/echo", body: "x", headers: { origin } },
        { path: "/__web/live", headers: { origin } },
        { path: "/__web/poll", headers: { origin } },
        { method: "POST", path: "/__web/live", headers: { origin } },
        { method: "OPTIONS", path: "/__web/live", headers: preflight },
      ]) {
        const response = await target.send(request);
        assert.ok(response.status > 0);
        assertNoCorsHeaders(response);
      }
    },
    { hostDependent: true },
  ),
];

const configuredOriginCases: readonly WireCase[] = [
  accepts("from the first origin of WEB_ORIGIN", () => ({ origin: "https://shop.example" }), { variant: "origin" }),
  accepts("from another origin of WEB_ORIGIN", () => ({ origin: "https://www.shop.example" }), { variant: "origin" }),
  accepts("of a script, with WEB_ORIGIN set", () => ({}), { variant: "origin" }),
  rejects("from the origin of the Host header, if WEB_ORIGIN is another", ({ origin }) => ({ origin }), {
    variant: "origin",
  }),
  rejects("from WEB_ORIGIN with another scheme", () => ({ origin: "http://shop.example" }), { variant: "origin" }),
  rejects("of another site, with WEB_ORIGIN set", () => ({ origin: "https://evil.example" }), { variant: "origin" }),
];

const proxyCases: readonly WireCase[] = [
  accepts(
    "from the origin in X-Forwarded-Proto and X-Forwarded-Host of a trusted proxy",
    () => ({ origin: "https://shop.example", "x-forwarded-proto": "https", "x-forwarded-host": "shop.example" }),
    { variant: "proxy", hostDependent: true },
  ),
  accepts(
    "from the scheme in X-Forwarded-Proto, without X-Forwarded-Host",
    ({ origin }) => ({ origin: origin.replace("http:", "https:"), "x-forwarded-proto": "https" }),
    { variant: "proxy" },
  ),
  accepts("that did not pass through the trusted proxy", ({ origin }) => ({ origin }), { variant: "proxy" }),
  accepts(
    "from the last host in X-Forwarded-Host, which the nearest proxy has added",
    () => ({
      origin: "https://shop.example",
      "x-forwarded-proto": "http, https",
      "x-forwarded-host": "evil.example, shop.example",
    }),
    { variant: "proxy" },
  ),
  rejects(
    "from the first host in X-Forwarded-Host, which the client has added",
    () => ({
      origin: "https://evil.example",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "evil.example, shop.example",
    }),
    { variant: "proxy" },
  ),
  rejects(
    "with a scheme in X-Forwarded-Proto that is not of HTTP",
    () => ({ origin: "file://shop.example", "x-forwarded-proto": "file", "x-forwarded-host": "shop.example" }),
    { variant: "proxy" },
  ),
  rejects(
    "from another scheme than X-Forwarded-Proto",
    () => ({ origin: "http://shop.example", "x-forwarded-proto": "https", "x-forwarded-host": "shop.example" }),
    { variant: "proxy" },
  ),
];

export const originCases: readonly WireCase[] = [...plainCases, ...configuredOriginCases, ...proxyCases];
