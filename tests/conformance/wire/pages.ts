/** Test cases: pages. @see docs/protocol.md 11.1 to 11.3, 11.5 and 11.7 */
import assert from "node:assert/strict";
import { assertCloses, cookieHeader, send, signIn, type WireCase, wireCase } from "./exchange.ts";

const responds = (title: string, path: string, status: number, text: RegExp): WireCase =>
  wireCase(title, async (target) => {
    const response = await send(target, { path });
    assert.equal(response.status, status);
    assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(response.headers.get("cache-control"), "private, no-store");
    assert.match(response.headers.get("content-security-policy") ?? "", /^default-src 'self'; script-src 'self'; /);
    assert.match(response.text, text);
    assert.doesNotMatch(response.text, /secret reason/);
  });

export const pageCases: readonly WireCase[] = [
  responds("loads the script on a page with a view", "/", 200, /<script type="module" src="[^"]*\/assets\/islands-/),
  responds(
    "decodes a parameter of the path, and escapes it in the markup",
    "/users/a%20%3Cb%3E",
    200,
    /<h1>a &lt;b&gt;<\/h1>|<h1>a &lt;b><\/h1>/,
  ),
  responds("responds with the error page and 404 if no page has the path", "/nowhere", 404, /<html/),
  responds("responds with the error page and 404 to a NotFound of a page", "/removed", 404, /<html/),
  responds("responds with the error page and 404 to the code not_found", "/refused/not_found", 404, /<html/),
  responds("responds with the error page and 403 to the code forbidden", "/refused/forbidden", 403, /<html/),
  responds(
    "responds with the error page and 401 to the code unauthenticated",
    "/refused/unauthenticated",
    401,
    /<html/,
  ),
  responds("responds with the error page and 500 to any other code", "/refused/conflict", 500, /<html/),
  responds("responds with the error page and 500 to any other error", "/broken", 500, /<html/),
  wireCase("shows the request id on the error page of a page that throws", async (target) => {
    const { text } = await send(target, { path: "/broken", headers: { "x-request-id": "this-one" } });
    assert.match(text, /this-one/);
  }),
  wireCase("redirects with 303, and adds the base to a path of this site", async (target) => {
    const { status, headers, text } = await send(target, { path: "/moved" });
    assert.deepEqual([status, headers.get("location"), text], [303, `${target.base}/users/1`, ""]);
    const external = await send(target, { path: "/external" });
    assert.equal(external.headers.get("location"), "https://elsewhere.example/");
  }),
  wireCase("provides a page with the session, and sends the cookies that the page sets", async (target) => {
    const response = await send(target, { path: "/me", headers: await signIn(target) });
    assert.match(response.text, /<h1>ada<\/h1>/);
    assert.equal(cookieHeader(response), "visited=1");
  }),
  wireCase("responds to HEAD of a page as to GET, without the body", async (target) => {
    const response = await send(target, { method: "HEAD", path: "/me" });
    assert.deepEqual([response.status, response.text, cookieHeader(response)], [200, "", "visited=1"]);
  }),
  ...["POST", "PUT", "DELETE", "PATCH", "OPTIONS"].map((method) =>
    wireCase(`rejects ${method} of a page with 405 and Allow`, async (target) => {
      const { status, headers } = await send(target, { method, path: "/me" });
      assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD"]);
    }),
  ),
  wireCase("rejects a request for a page whose Content-Length is over 1 MiB with 413", async (target) => {
    const response = await send(target, { method: "POST", path: "/me", contentLength: 1024 * 1024 + 1 });
    assert.equal(response.status, 413);
    assertCloses(response, true);
  }),
];
