/** Test cases: what event streams and polls accept and refuse. @see docs/protocol.md 10.4 */
import assert from "node:assert/strict";
import { assertCloses, expectResult, JSON_TYPE, send, type Target, type WireCase, wireCase } from "./exchange.ts";

const MAX_BYTES = 512 * 1024;
const PATHS = ["/__web/live", "/__web/poll"] as const;

/** Refusals of a POST, each with everything wrong that is checked later: type, body, members, feed. */
const REFUSALS: readonly (readonly [
  description: string,
  status: number,
  request: { readonly headers?: Readonly<Record<string, string>>; readonly body: string; readonly query?: string },
])[] = [
  ["another origin", 403, { headers: { origin: "https://evil.example" }, body: "x", query: `?x=${"x".repeat(8_192)}` }],
  ["a URL of over 8,192 characters", 414, { body: "x", query: `?x=${"x".repeat(8_192)}` }],
  ["another content type", 415, { headers: { "content-type": "text/plain" }, body: "x".repeat(MAX_BYTES + 1) }],
  ["a body of over 512 KiB", 413, { headers: JSON_TYPE, body: "x".repeat(MAX_BYTES + 1) }],
  ["a body that is not JSON", 400, { headers: JSON_TYPE, body: "x" }],
  ["an unknown member", 400, { headers: JSON_TYPE, body: '{"feeds":["AAAA"],"a":1}' }],
  ["a feed of another application", 403, { headers: JSON_TYPE, body: '{"feeds":["AAAA"]}' }],
];

/** The statuses before the body is read. */
const UNREAD = new Set([414, 415, 413]);

const pollWith = async (target: Target, body: string, chunked: boolean) =>
  send(target, { method: "POST", path: "/__web/poll", headers: JSON_TYPE, body, chunked });

export const liveCases: readonly WireCase[] = [
  ...PATHS.flatMap((path) =>
    REFUSALS.map(([description, status, { headers = {}, body, query = "" }]) =>
      wireCase(
        `refuses a POST of ${path} with ${status} for ${description}, whatever else is wrong`,
        async (target) => {
          const response = await send(target, { method: "POST", path: path + query, headers, body });
          assert.equal(response.status, status, response.text);
          assert.match(response.headers.get("content-type") ?? "", /^text\/plain/);
          assertCloses(response, UNREAD.has(status) || headers.origin !== undefined);
        },
        {
          hostDependent: path === "/__web/poll" && status >= 413,
          ...(status === 413 ? { answeredByHost: "body-parser" } : {}), // the body is no JSON
        },
      ),
    ),
  ),
  ...PATHS.map((path) =>
    wireCase(`refuses other methods of ${path} than GET and POST with 405`, async (target) => {
      for (const method of ["HEAD", "PUT", "DELETE", "OPTIONS"]) {
        const response = await send(target, { method, path });
        assert.equal(response.status, 405);
        assert.equal(response.headers.get("allow"), "GET, POST");
      }
    }),
  ),
  wireCase(
    "reads the body of a POST up to 512 KiB, with and without Content-Length",
    async (target) => {
      const { value: feed } = await expectResult(target, "issue_feed", { name: "live:cases" });
      const json = JSON.stringify({ feeds: [feed] });
      // Not padded with spaces, which a host that parses bodies drops.
      const tooLarge = JSON.stringify({ feeds: ["A".repeat(MAX_BYTES + 1 - '{"feeds":[""]}'.length)] });
      assert.equal(tooLarge.length, MAX_BYTES + 1);
      for (const chunked of [false, true]) {
        const largest = await pollWith(target, json.padEnd(MAX_BYTES), chunked);
        assert.equal(largest.status, 200, largest.text);
        assert.deepEqual(Object.keys(JSON.parse(largest.text)), ["events", "gaps", "cursor", "tags"]);
        assertCloses(largest, false);
        const larger = await pollWith(target, tooLarge, chunked);
        assert.equal(larger.status, 413);
        assertCloses(larger, true);
      }
    },
    { hostDependent: true },
  ),
  wireCase("returns with each event of a poll by POST its id, and none of a poll by GET", async (target) => {
    const { value: feed } = await expectResult(target, "issue_feed", { name: "live:ids" });
    await expectResult(target, "publish_message", { name: "live:ids", data: 1 });
    const posted = JSON.parse((await pollWith(target, JSON.stringify({ feeds: [feed] }), false)).text);
    assert.deepEqual(posted.events, [["live:ids", 1, `0=${posted.cursor}`]]);
    const gotten = JSON.parse((await send(target, { path: `/__web/poll?feed=${feed}` })).text);
    assert.deepEqual(gotten.events, [["live:ids", 1]]);
  }),
];
