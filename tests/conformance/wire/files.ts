/** Test cases: the files of the build. @see docs/protocol.md 11.6 */
import assert from "node:assert/strict";
import { type CaseOptions, send, type Target, type WireCase, wireCase } from "./exchange.ts";

/** Returns the path of the page script, relative to the base. */
async function scriptPath(target: Target): Promise<string> {
  const { text } = await send(target, { path: "/" });
  const [, src = ""] = /<script type="module" src="([^"]+)"/.exec(text) ?? [];
  return src.slice(target.base.length);
}

/** The development server builds no files. */
const BUILT: CaseOptions = { answeredByHost: "development" };

export const fileCases: readonly WireCase[] = [
  wireCase(
    "serves a public file with an ETag, and revalidates it with 304",
    async (target) => {
      const response = await send(target, { path: "/robots.txt" });
      assert.deepEqual([response.status, response.text], [200, "User-agent: *\n"]);
      assert.equal(response.headers.get("cache-control"), "no-cache");
      const etag = response.headers.get("etag") ?? "";
      const second = await send(target, { path: "/robots.txt", headers: { "if-none-match": etag } });
      assert.deepEqual([second.status, second.text, second.headers.get("etag")], [304, "", etag]);
    },
    { hostDependent: true },
  ),
  wireCase(
    "serves a file of the build as immutable for one year",
    async (target) => {
      const response = await send(target, { path: await scriptPath(target) });
      assert.equal(response.status, 200);
      assert.match(response.headers.get("content-type") ?? "", /^text\/javascript/);
      assert.equal(response.headers.get("cache-control"), "max-age=31536000, immutable");
    },
    BUILT,
  ),
  wireCase(
    "serves the compressed copy of a file if the client accepts it",
    async (target) => {
      const path = await scriptPath(target);
      const response = await send(target, { path, headers: { "accept-encoding": "br, gzip" } });
      assert.equal(response.headers.get("content-encoding"), "br");
      assert.match(response.headers.get("vary") ?? "", /accept-encoding/i);
    },
    { ...BUILT, hostDependent: true },
  ),
  wireCase("does not serve the files of the server", async (target) => {
    for (const path of ["/app.mjs", "/server.mjs", "/client/robots.txt"]) {
      assert.equal((await send(target, { path })).status, 404);
    }
  }),
];
