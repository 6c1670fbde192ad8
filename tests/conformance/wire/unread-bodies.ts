/** Test cases: bodies that nobody reads. @see docs/protocol.md 2.7 */
import assert from "node:assert/strict";
import { assertCloses, send, type WireCase, type WireRequest, wireCase } from "./exchange.ts";

const MIB = 1024 * 1024;

/** Requests whose handlers read no body: their description, and their status without a body. */
const REQUESTS: readonly (readonly [description: string, request: WireRequest, status: number])[] = [
  ["GET of a page", { path: "/" }, 200],
  ["POST of a page", { method: "POST", path: "/" }, 405],
  ["GET of a file", { path: "/robots.txt" }, 200],
  ["POST of a file", { method: "POST", path: "/robots.txt" }, 404],
  ["GET of a route", { path: "/files/a" }, 200],
  ["GET of the event stream", { path: "/__web/live" }, 400],
  ["PUT of a poll", { method: "PUT", path: "/__web/poll" }, 405],
  ["POST of the health check", { method: "POST", path: "/healthz" }, 200],
  ["GET of an unknown path", { path: "/nothing" }, 404],
  ["POST of an unknown path", { method: "POST", path: "/nothing" }, 404],
  ["POST of a path that cannot be read", { method: "POST", path: "/a%00" }, 400],
];

/** A host treats the others in the same way. */
const HOST_DEPENDENT = new Set(["GET of a page", "POST of an unknown path"]);

export const unreadBodyCases: readonly WireCase[] = [
  ...REQUESTS.map(([description, request]) =>
    wireCase(
      `rejects a body over 1 MiB without Content-Length with 413: ${description} [REQUEST-18]`,
      async (target) => {
        const response = await send(target, { ...request, body: "x".repeat(MIB + 1), chunked: true });
        assert.equal(response.status, 413);
        assertCloses(response, true);
      },
      { hostDependent: HOST_DEPENDENT.has(description) },
    ),
  ),
  ...REQUESTS.filter(([, { method }]) => method !== undefined).map(([description, request, status]) =>
    wireCase(
      `discards a body of 1 MiB without Content-Length: ${description}`,
      async (target) => {
        for (const size of [0, 1, MIB - 1, MIB]) {
          const response = await send(target, { ...request, body: "x".repeat(size), chunked: true });
          assert.equal(response.status, status);
        }
      },
      { hostDependent: HOST_DEPENDENT.has(description) },
    ),
  ),
  wireCase(
    "closes the connection after the response of a route that does not read its body [REQUEST-19]",
    async (target) => {
      for (const size of [MIB, MIB + 1, 3 * MIB]) {
        const request = { method: "POST", path: "/hooks/unread", body: "x".repeat(size), chunked: true };
        const response = await send(target, request);
        assert.deepEqual([response.status, response.text], [200, "unread"]);
        assertCloses(response, true);
      }
    },
    { hostDependent: true },
  ),
  wireCase(
    "keeps the connection after a route that does not read a body of declared length",
    async (target) => {
      const response = await send(target, { method: "POST", path: "/hooks/unread", body: "x".repeat(1000) });
      assert.equal(response.status, 200);
      assertCloses(response, false);
    },
    { hostDependent: true },
  ),
];
