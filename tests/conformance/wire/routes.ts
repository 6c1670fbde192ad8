/** Test cases: routes. @see docs/protocol.md 11.4 and 11.5 */
import assert from "node:assert/strict";
import { assertCloses, expectError, send, type WireCase, type WireRequest, wireCase } from "./exchange.ts";

const MIB = 1024 * 1024;

const echoRequest = (body: string, overrides: Partial<WireRequest> = {}): WireRequest => ({
  method: "POST",
  path: "/hooks/echo",
  body,
  ...overrides,
});

export const routeCases: readonly WireCase[] = [
  wireCase("redirects with 303 if a route returns a redirect, and adds the base", async (target) => {
    const { status, headers } = await send(target, { method: "POST", path: "/hooks/moved", body: "x" });
    assert.deepEqual([status, headers.get("location")], [303, `${target.base}/users/1`]);
  }),
  wireCase(
    "passes a request of any origin to a route unchanged, and keeps the headers it sets",
    async (target) => {
      const headers = { "content-type": "text/plain", origin: "https://hooks.example" };
      const response = await send(target, echoRequest("signed é", { headers }));
      assert.equal(response.status, 201);
      assert.deepEqual(JSON.parse(response.text), { method: "POST", text: "signed é" });
      assert.equal(response.headers.get("cache-control"), "max-age=60");
      assert.match(response.headers.get("content-security-policy") ?? "", /default-src/);
    },
    { hostDependent: true },
  ),
  wireCase(
    "passes a JSON body to a route",
    async (target) => {
      const body = JSON.stringify({ a: [1, "é"] });
      const response = await send(target, echoRequest(body, { headers: { "content-type": "application/json" } }));
      assert.deepEqual(JSON.parse(JSON.parse(response.text).text), { a: [1, "é"] });
    },
    { hostDependent: true },
  ),
  wireCase(
    "decodes a parameter of a route's path, and responds to HEAD without the body",
    async (target) => {
      const response = await send(target, { path: "/files/a%20b" });
      assert.deepEqual([response.status, response.text], [200, "file a b"]);
      assert.equal(response.headers.get("cache-control"), "private, no-store");
      assert.equal((await send(target, { method: "HEAD", path: "/files/x" })).text, "");
    },
    { hostDependent: true },
  ),
  wireCase(
    "redirects GET of a route with a slash at its end, and responds to other methods with 404 [REQUEST-16]",
    async (target) => {
      for (const path of ["/files/a/", "/download/a/b/", "/fetched/"]) {
        for (const method of ["GET", "HEAD"]) {
          const { status, headers } = await send(target, { method, path: `${path}?q=1` });
          assert.deepEqual([status, headers.get("location")], [308, `${target.base}${path.slice(0, -1)}?q=1`]);
        }
      }
      for (const path of ["/hooks/echo/", "/hooks/unread/"]) {
        assert.equal((await send(target, { method: "POST", path, body: "x" })).status, 404);
      }
    },
    { hostDependent: true },
  ),
  wireCase(
    "rejects a parameter that begins with a slash, encoded or not, with 400 [REQUEST-17]",
    async (target) => {
      for (const path of ["/download//etc/passwd", "/download/%2fetc%2fpasswd", "/download/%2Fetc", "/files/%2fa"]) {
        assert.equal((await target.send({ path })).status, 400);
      }
      assert.equal(
        (await send(target, { path: "/download/https:%2F%2Fa.example" })).text,
        "download https://a.example",
      );
    },
    { hostDependent: true },
  ),
  wireCase(
    "redirects GET of a path with needless percent-encoding to the path without it, and rejects other methods with 400 [REQUEST-14]",
    async (target) => {
      for (const [path, canonical] of [
        ["/%6de", "/me"],
        ["/f%69les/a%20b?q=%61", "/files/a%20b?q=%61"],
        ["/files/%7Eada", "/files/~ada"],
        ["/robots%2Etxt", "/robots.txt"],
        ["/robots.%74xt", "/robots.txt"],
        ["/%5F%5Fweb/live", "/__web/live"],
        ["/__web/p%6Fll", "/__web/poll"],
        ["/h%65althz", "/healthz"],
      ] as const) {
        for (const method of ["GET", "HEAD"]) {
          const { status, headers } = await target.send({ method, path });
          assert.deepEqual([status, headers.get("location")], [308, `${target.base}${canonical}`]);
        }
        assert.equal((await target.send({ method: "POST", path, body: "x" })).status, 400);
      }
      assert.equal((await target.send({ path: "/%6de/%00" })).status, 400);
    },
    { hostDependent: true },
  ),
  wireCase(
    "finds a route with hexadecimal digits of either case in the percent-encoding of its path",
    async (target) => {
      for (const path of ["/caf%C3%A9/a", "/caf%c3%a9/a", "/caf%c3%A9/a"]) {
        assert.equal((await send(target, { path })).text, "café a");
      }
    },
    { hostDependent: true },
  ),
  wireCase(
    "returns the response of fetch that a route returns",
    async (target) => {
      const response = await send(target, { path: "/fetched" });
      assert.deepEqual([response.status, response.text], [200, "fetched"]);
    },
    { hostDependent: true },
  ),
  wireCase("rejects another method of a route's path with 405 and Allow", async (target) => {
    const { status, headers } = await send(target, { path: "/hooks/echo" });
    assert.deepEqual([status, headers.get("allow")], [405, "POST"]);
  }),
  wireCase("responds to the errors of a route as to those of a function", async (target) => {
    const caching = "private, no-store"; // a browser may show the response as a document
    await expectError(
      target,
      { method: "POST", path: "/hooks/refused" },
      { status: 409, code: "conflict", message: /^Already/, caching },
    );
    await expectError(target, { method: "POST", path: "/hooks/broken" }, { status: 500, code: "internal", caching });
  }),
  wireCase(
    "rejects a route's body over 1 MiB with 413, with or without Content-Length",
    async (target) => {
      assert.equal((await send(target, echoRequest("x".repeat(MIB), { chunked: true }))).status, 201);
      const tooLarge = "x".repeat(MIB + 1);
      for (const request of [echoRequest(tooLarge), echoRequest(tooLarge, { chunked: true })]) {
        const response = await send(target, request);
        assert.equal(response.status, 413);
        assertCloses(response, true);
      }
    },
    { hostDependent: true },
  ),
];
