/** Test cases: pages. @see docs/protocol.md 11.1 to 11.3, 11.5 and 11.7 */
import assert from "node:assert/strict";
import { assertCloses, type CaseOptions, cookieHeader, send, signIn, type WireCase, wireCase } from "./exchange.ts";

const responds = (title: string, path: string, expected: readonly [number, RegExp], options?: CaseOptions): WireCase =>
  wireCase(
    title,
    async (target) => {
      const [status, text] = expected;
      const response = await send(target, { path });
      assert.equal(response.status, status);
      assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
      assert.equal(response.headers.get("cache-control"), "private, no-store");
      assert.match(response.headers.get("content-security-policy") ?? "", /^default-src 'self'; script-src 'self'; /);
      assert.match(response.text, text);
      assert.doesNotMatch(response.text, /secret reason/);
    },
    options,
  );

/** The development server builds no files, and shows errors. */
const BUILT: CaseOptions = { answeredByHost: "development" };

/** Paths that respond to HEAD, and the function that a script calls with HEAD. */
const HEAD_PATHS = [
  "/",
  "/me",
  "/nothing",
  "/moved",
  "/me/",
  "/broken",
  "/healthz",
  "/robots.txt",
  "/sized",
  "/__web/rpc/ping",
];

export const pageCases: readonly WireCase[] = [
  ...HEAD_PATHS.map((path) =>
    wireCase(
      `responds to HEAD with the Content-Length of GET: ${path}`,
      async (target) => {
        const headers = { "x-request-id": "one" }; // error pages contain the id
        const get = await send(target, { path, headers });
        const head = await send(target, { method: "HEAD", path, headers });
        assert.deepEqual([head.status, head.text], [get.status, ""]);
        const { byteLength } = new TextEncoder().encode(get.text);
        // The message of 405 contains the method.
        const expected = get.status === 405 ? byteLength + 1 : byteLength;
        assert.equal(head.headers.get("content-length"), String(expected));
      },
      {
        hostDependent: ["/", "/moved", "/sized"].includes(path), // with a length, without a body, with one that the page sets
        ...(path === "/" ? { answeredByHost: "head" } : {}),
      },
    ),
  ),
  wireCase(
    "responds to HEAD of a route without a Content-Length that is not that of GET",
    async (target) => {
      const { status, headers } = await send(target, { method: "HEAD", path: "/files/abc" });
      assert.equal(status, 200);
      assert.ok([null, String("file abc".length)].includes(headers.get("content-length")));
    },
    { hostDependent: true },
  ),
  ...["a/users/1?", "a\\b", "a@b", "a b", "x:99999"].map((host) =>
    wireCase(
      `rejects the Host ${JSON.stringify(host)} with 400`,
      async (target) => {
        assert.equal((await target.send({ path: "/", headers: { host } })).status, 400);
      },
      { hostDependent: true },
    ),
  ),
  responds(
    "loads the script on a page with a view",
    "/",
    [200, /<script type="module" src="[^"]*\/assets\/islands-/],
    BUILT,
  ),
  responds(
    "decodes a parameter of the path, and escapes it in the markup",
    "/users/a%20%3Cb%3E",
    [200, /<h1>a &lt;b&gt;<\/h1>|<h1>a &lt;b><\/h1>/],
    { hostDependent: true },
  ),
  responds("responds with the error page and 404 if no page has the path", "/nowhere", [404, /<html/]),
  responds("responds with the error page and 404 to a NotFound of a page", "/removed", [404, /<html/]),
  responds("responds with the error page and 404 to the code not_found", "/refused/not_found", [404, /<html/]),
  responds("responds with the error page and 403 to the code forbidden", "/refused/forbidden", [403, /<html/]),
  responds("responds with the error page and 401 to the code unauthenticated", "/refused/unauthenticated", [
    401,
    /<html/,
  ]),
  responds("responds with the error page and 500 to any other code", "/refused/conflict", [500, /<html/], BUILT),
  responds("responds with the error page and 500 to any other error", "/broken", [500, /<html/], BUILT),
  wireCase("shows the request id on the error page of a page that throws", async (target) => {
    const { text } = await send(target, { path: "/broken", headers: { "x-request-id": "this-one" } });
    assert.match(text, /this-one/);
  }),
  wireCase(
    "redirects with 303, and adds the base to a path of this site",
    async (target) => {
      const { status, headers, text } = await send(target, { path: "/moved" });
      assert.deepEqual([status, headers.get("location"), text], [303, `${target.base}/users/1`, ""]);
      const external = await send(target, { path: "/external" });
      assert.equal(external.headers.get("location"), "https://elsewhere.example/");
    },
    { hostDependent: true },
  ),
  wireCase("redirects a page that throws a redirect with 303, and keeps its cookies", async (target) => {
    const response = await send(target, { path: "/moved-thrown" });
    assert.deepEqual([response.status, response.headers.get("location")], [303, `${target.base}/users/1`]);
    assert.equal(cookieHeader(response), "moved=1");
  }),
  wireCase("renders a page in its async layout, with the islands of both in order", async (target) => {
    const { status, text } = await send(target, { path: "/framed" });
    assert.equal(status, 200);
    assert.match(
      text,
      /<section class="around"><!--(\w+):0--><button type="button">0<\/button><!--\/\1:0--><!--\1:1--><button type="button">0<\/button><!--\/\1:1--><\/section>/,
    );
  }),
  wireCase("redirects with 303 if a layout throws a redirect, also if the page throws NotFound", async (target) => {
    const { status, headers } = await send(target, { path: "/framed?refused=1" });
    assert.deepEqual([status, headers.get("location")], [303, `${target.base}/users/1`]);
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
    wireCase(
      `rejects ${method} of a page with 405 and Allow`,
      async (target) => {
        const { status, headers } = await send(target, { method, path: "/me" });
        assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD"]);
      },
      { hostDependent: method === "OPTIONS" },
    ),
  ),
  wireCase(
    "rejects a request for a page whose Content-Length is over 1 MiB with 413",
    async (target) => {
      const response = await send(target, { method: "POST", path: "/me", contentLength: 1024 * 1024 + 1 });
      assert.equal(response.status, 413);
      assertCloses(response, true);
    },
    { hostDependent: true },
  ),
];
