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
  wireCase("passes a request of any origin to a route unchanged, and keeps the headers it sets", async (target) => {
    const headers = { "content-type": "text/plain", origin: "https://hooks.example" };
    const response = await send(target, echoRequest("signed é", { headers }));
    assert.equal(response.status, 201);
    assert.deepEqual(JSON.parse(response.text), { method: "POST", text: "signed é" });
    assert.equal(response.headers.get("cache-control"), "max-age=60");
    assert.match(response.headers.get("content-security-policy") ?? "", /default-src/);
  }),
  wireCase("passes a JSON body to a route", async (target) => {
    const body = JSON.stringify({ a: [1, "é"] });
    const response = await send(target, echoRequest(body, { headers: { "content-type": "application/json" } }));
    assert.deepEqual(JSON.parse(JSON.parse(response.text).text), { a: [1, "é"] });
  }),
  wireCase("decodes a parameter of a route's path, and responds to HEAD without the body", async (target) => {
    const response = await send(target, { path: "/files/a%20b" });
    assert.deepEqual([response.status, response.text], [200, "file a b"]);
    assert.equal(response.headers.get("cache-control"), "private, no-store");
    assert.equal((await send(target, { method: "HEAD", path: "/files/x" })).text, "");
  }),
  wireCase("rejects another method of a route's path with 405 and Allow", async (target) => {
    const { status, headers } = await send(target, { path: "/hooks/echo" });
    assert.deepEqual([status, headers.get("allow")], [405, "POST"]);
  }),
  wireCase("responds to the errors of a route as to those of a function", async (target) => {
    await expectError(
      target,
      { method: "POST", path: "/hooks/refused" },
      { status: 409, code: "conflict", message: /^Already/ },
    );
    await expectError(target, { method: "POST", path: "/hooks/broken" }, { status: 500, code: "internal" });
  }),
  wireCase("rejects a route's body over 1 MiB with 413, with or without Content-Length", async (target) => {
    assert.equal((await send(target, echoRequest("x".repeat(MIB), { chunked: true }))).status, 201);
    const tooLarge = "x".repeat(MIB + 1);
    for (const request of [echoRequest(tooLarge), echoRequest(tooLarge, { chunked: true })]) {
      const response = await send(target, request);
      assert.equal(response.status, 413);
      assertCloses(response, true);
    }
  }),
];
