/** Rows: streams, sessions and cookies, pages, routes and files. */
import assert from "node:assert/strict";
import {
  type Ask,
  assertCloses,
  calling,
  cookieOf,
  type Row,
  refusal,
  result,
  row,
  type Site,
  send,
  signedIn,
} from "./exchange.ts";

/** Opens a stream, and gives its lines. */
async function lines(site: Site, ask: Ask) {
  const answer = await send(site, ask);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("content-type"), "application/x-ndjson");
  assert.equal(answer.headers.get("cache-control"), "private, no-store");
  assert.equal(answer.headers.get("x-accel-buffering"), "no");
  // A host that frames answers by itself may know the length of a stream that was over at once: Bun does.
  if (answer.closes !== null) assert.equal(answer.headers.get("content-length"), null);
  assert.match(answer.text, /\n$/);
  return {
    ...answer,
    lines: answer.text
      .slice(0, -1)
      .split("\n")
      .map((line) => JSON.parse(line)),
  };
}

const streams = (name: string, fn: string, args: unknown, wanted: readonly unknown[]): Row =>
  row(`a stream ${name}`, async (site) => assert.deepEqual((await lines(site, calling(fn, args))).lines, wanted));

const DONE = { done: true };
const chunks = (...values: readonly unknown[]) => values.map((chunk) => ({ chunk }));

const streamRows: readonly Row[] = [
  streams("is one line a value, then done", "countdown", {}, [...chunks(3, 2, 1), DONE]),
  streams("takes coerced arguments", "countdown", { from: "2" }, [...chunks(2, 1), DONE]),
  streams("of a plain generator", "plain", {}, [...chunks({ at: "1970-01-01T00:00:00.000Z" }, null, "a\nb"), DONE]),
  streams("may have no values", "silent", {}, [DONE]),
  streams("is not held to rpc_timeout", "unhurried", {}, [...chunks("in its own time"), DONE]),
  ...[0, 1, 3].map((after) =>
    streams(`tells an RPCError after ${after} values`, "breaking", { kind: "rpc", after }, [
      ...chunks(...Array.from({ length: after }, (_, n) => n + 1)),
      { error: { code: "conflict", message: "Taken.", details: { by: "ada" } } },
    ]),
  ),
  ...["value", "type"].map((kind) =>
    streams(`tells a ${kind} error as validation_error`, "breaking", { kind }, [
      { chunk: 1 },
      { error: { code: "validation_error", message: `Not that ${kind}.`, details: {} } },
    ]),
  ),
  row("a stream tells anything else as internal, in general words", async (site) => {
    const answer = await lines(site, calling("breaking", { kind: "other" }, { "x-request-id": "this-one" }));
    const [first, last] = answer.lines;
    assert.deepEqual(first, { chunk: 1 });
    assert.deepEqual([last.error.code, last.error.details], ["internal", {}]);
    assert.match(last.error.message, /this-one/);
    assert.doesNotMatch(answer.text, /secret/);
  }),
  row("a stream's arguments are refused with their status", async (site) => {
    await refusal(site, calling("countdown", { from: "x" }), { status: 422, code: "validation_error" });
  }),
  row("a stream for the signed-in is refused with its status", async (site) => {
    await refusal(site, calling("secret_stream"), { status: 401, code: "unauthenticated", closes: true });
    const headers = await signedIn(site);
    assert.deepEqual((await lines(site, calling("secret_stream", {}, headers))).lines, [...chunks("ada"), DONE]);
  }),
  row("a stream may sign in before its first value", async (site) => {
    const answer = await lines(site, calling("login_stream", { sub: "eve" }, { "x-request-id": "id-1" }));
    assert.deepEqual(answer.lines, [...chunks("eve", "id-1"), DONE]);
    assert.equal((await result(site, "whoami", {}, { cookie: cookieOf(answer) })).value.sub, "eve");
  }),
];

const sessionRows: readonly Row[] = [
  row("a session is a signed cookie, for seven days", async (site) => {
    const answer = await result(site, "login", { sub: "ada", roles: ["admin"] });
    assert.equal(answer.value, null);
    const [line = "", ...others] = answer.headers.getSetCookie();
    assert.deepEqual(others, []);
    assert.match(line, /^web_session=[\w-]+\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
    const [payload = ""] = line.slice("web_session=".length).split(".");
    const { sub, name, roles, iat, exp } = JSON.parse(Buffer.from(payload, "base64url").toString());
    assert.deepEqual(
      { sub, name, roles, seconds: exp - iat },
      { sub: "ada", name: "Ada", roles: ["admin"], seconds: 604800 },
    );
    const { value } = await result(site, "whoami", {}, { cookie: cookieOf(answer) });
    assert.deepEqual(value, { sub: "ada", name: "Ada", roles: ["admin"] });
  }),
  row(
    "a session over https is __Host- and Secure",
    async (site) => {
      const answer = await result(site, "login", { sub: "ada" });
      assert.match(
        answer.headers.getSetCookie()[0] ?? "",
        /^__Host-web_session=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
      assert.match(answer.headers.get("strict-transport-security") ?? "", /^max-age=\d+$/);
      assert.equal((await result(site, "whoami", {}, { cookie: cookieOf(answer) })).value.sub, "ada");
      const plain = cookieOf(answer).replace("__Host-", "");
      assert.equal((await result(site, "whoami", {}, { cookie: plain })).value, null);
    },
    { variant: "secure" },
  ),
  row("signing out clears the cookie", async (site) => {
    const answer = await result(site, "logout", {}, await signedIn(site));
    assert.match(answer.headers.getSetCookie()[0] ?? "", /^web_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/);
  }),
  row("a cookie that was changed in any place is signed out", async (site) => {
    const { cookie = "" } = await signedIn(site);
    for (const at of [13, cookie.indexOf(".") - 2, cookie.indexOf(".") + 2, cookie.length - 2]) {
      const changed = cookie.slice(0, at) + (cookie[at] === "A" ? "B" : "A") + cookie.slice(at + 1);
      assert.equal((await result(site, "whoami", {}, { cookie: changed })).value, null);
    }
  }),
  row("session.require is 401 signed out, and 403 without the role", async (site) => {
    await refusal(site, calling("require_any"), { status: 401, code: "unauthenticated" });
    await refusal(site, calling("require_admin"), { status: 401, code: "unauthenticated" });
    const guest = await signedIn(site);
    assert.equal((await result(site, "require_any", {}, guest)).value, "ada");
    await refusal(site, calling("require_admin", {}, guest), { status: 403, code: "forbidden" });
    assert.equal((await result(site, "require_admin", {}, await signedIn(site, ["admin"]))).value, "ada");
  }),
  row("cookies go out one a line and come back as they were", async (site) => {
    const answer = await result(site, "cookies", {}, { cookie: "a=1; b=%20x; bad=%zz; =; q" });
    assert.deepEqual(answer.headers.getSetCookie(), [
      "one=1; Max-Age=60; Path=/; HttpOnly; SameSite=Lax",
      "two=a%20b%3B%C3%A9; Path=/; HttpOnly; SameSite=Lax",
      "gone=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax",
    ]);
    const { a, b, bad } = answer.value;
    assert.deepEqual({ a, b, bad }, { a: "1", b: " x", bad: "%zz" });
    const [, two = ""] = answer.headers.getSetCookie();
    assert.equal((await result(site, "cookies", {}, { cookie: two.split(";")[0] ?? "" })).value.two, "a b;é");
  }),
];

const page = (name: string, path: string, status: number, text: RegExp): Row =>
  row(`a page ${name}: ${status}`, async (site) => {
    const answer = await send(site, { path });
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(answer.headers.get("cache-control"), "private, no-store");
    assert.match(answer.headers.get("content-security-policy") ?? "", /^default-src 'self'; script-src 'self'; /);
    assert.match(answer.text, text);
    assert.doesNotMatch(answer.text, /secret reason/);
  });

const pageRows: readonly Row[] = [
  page("with a view", "/", 200, /<script type="module" src="[^"]*\/assets\/islands-/),
  page("with a parameter, encoded", "/users/a%20%3Cb%3E", 200, /<h1>a &lt;b&gt;<\/h1>|<h1>a &lt;b><\/h1>/),
  page("that is nowhere", "/nowhere", 404, /<html/),
  page("that throws NotFound", "/gone", 404, /<html/),
  page("that throws not_found", "/refused/not_found", 404, /<html/),
  page("that throws forbidden", "/refused/forbidden", 403, /<html/),
  page("that throws unauthenticated", "/refused/unauthenticated", 401, /<html/),
  page("that throws another code", "/refused/conflict", 500, /<html/),
  page("that fails", "/broken", 500, /<html/),
  row("a page that fails shows the id of its request", async (site) => {
    const { text } = await send(site, { path: "/broken", headers: { "x-request-id": "this-one" } });
    assert.match(text, /this-one/);
  }),
  row("a page redirects with 303, below the base", async (site) => {
    const { status, headers, text } = await send(site, { path: "/moved" });
    assert.deepEqual([status, headers.get("location"), text], [303, `${site.base}/users/1`, ""]);
    assert.equal((await send(site, { path: "/away" })).headers.get("location"), "https://elsewhere.example/");
  }),
  row("a page knows its visitor, and sets cookies", async (site) => {
    const answer = await send(site, { path: "/me", headers: await signedIn(site) });
    assert.match(answer.text, /<h1>ada<\/h1>/);
    assert.equal(cookieOf(answer), "seen=1");
  }),
  row("a page's HEAD is its GET without a body", async (site) => {
    const answer = await send(site, { method: "HEAD", path: "/me" });
    assert.deepEqual([answer.status, answer.text, cookieOf(answer)], [200, "", "seen=1"]);
  }),
  ...["POST", "PUT", "DELETE", "PATCH", "OPTIONS"].map((method) =>
    row(`a page answers ${method} with 405`, async (site) => {
      const { status, headers } = await send(site, { method, path: "/me" });
      assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD"]);
    }),
  ),
  row("a page refuses a body that is too large", async (site) => {
    const answer = await send(site, { method: "POST", path: "/me", length: 1024 * 1024 + 1 });
    assert.equal(answer.status, 413);
    assertCloses(answer, true);
  }),
];

const hook = (text: string, more: Partial<Ask> = {}): Ask => ({
  method: "POST",
  path: "/hooks/echo",
  body: text,
  ...more,
});

const routeRows: readonly Row[] = [
  row("a route gets the request as it came, from any site", async (site) => {
    const headers = { "content-type": "text/plain", origin: "https://hooks.example" };
    const answer = await send(site, hook("signed é", { headers }));
    assert.equal(answer.status, 201);
    assert.deepEqual(JSON.parse(answer.text), { method: "POST", text: "signed é" });
    assert.equal(answer.headers.get("cache-control"), "max-age=60");
    assert.match(answer.headers.get("content-security-policy") ?? "", /default-src/);
  }),
  row("a route gets JSON", async (site) => {
    const body = JSON.stringify({ a: [1, "é"] });
    const answer = await send(site, hook(body, { headers: { "content-type": "application/json" } }));
    assert.deepEqual(JSON.parse(JSON.parse(answer.text).text), { a: [1, "é"] });
  }),
  row("a route gets what its path holds", async (site) => {
    const answer = await send(site, { path: "/files/a%20b" });
    assert.deepEqual([answer.status, answer.text], [200, "file a b"]);
    assert.equal(answer.headers.get("cache-control"), "private, no-store");
    assert.equal((await send(site, { method: "HEAD", path: "/files/x" })).text, "");
  }),
  row("a route answers other methods with 405", async (site) => {
    const { status, headers } = await send(site, { path: "/hooks/echo" });
    assert.deepEqual([status, headers.get("allow")], [405, "POST"]);
  }),
  row("a route's errors are told as a function's", async (site) => {
    await refusal(
      site,
      { method: "POST", path: "/hooks/refused" },
      { status: 409, code: "conflict", message: /^Seen/ },
    );
    await refusal(site, { method: "POST", path: "/hooks/broken" }, { status: 500, code: "internal" });
  }),
  row("a route's body is held to 1 MiB, of no declared length too", async (site) => {
    const mib = 1024 * 1024;
    assert.equal((await send(site, hook("x".repeat(mib), { chunked: true }))).status, 201);
    for (const ask of [hook("x".repeat(mib + 1)), hook("x".repeat(mib + 1), { chunked: true })]) {
      const answer = await send(site, ask);
      assert.equal(answer.status, 413);
      assertCloses(answer, true);
    }
  }),
];

const fileRows: readonly Row[] = [
  row("a public file, to be asked for again", async (site) => {
    const answer = await send(site, { path: "/robots.txt" });
    assert.deepEqual([answer.status, answer.text], [200, "User-agent: *\n"]);
    assert.equal(answer.headers.get("cache-control"), "no-cache");
    const etag = answer.headers.get("etag") ?? "";
    const again = await send(site, { path: "/robots.txt", headers: { "if-none-match": etag } });
    assert.deepEqual([again.status, again.text, again.headers.get("etag")], [304, "", etag]);
  }),
  row("a file of the build, kept for a year", async (site) => {
    const { text } = await send(site, { path: "/" });
    const [, src = ""] = /<script type="module" src="([^"]+)"/.exec(text) ?? [];
    const answer = await send(site, { path: src.slice(site.base.length) });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("content-type") ?? "", /^text\/javascript/);
    assert.equal(answer.headers.get("cache-control"), "max-age=31536000, immutable");
  }),
  row("a compressed copy of a file of the build", async (site) => {
    const { text } = await send(site, { path: "/" });
    const [, src = ""] = /<script type="module" src="([^"]+)"/.exec(text) ?? [];
    const path = src.slice(site.base.length);
    const answer = await send(site, { path, headers: { "accept-encoding": "br, gzip" } });
    assert.equal(answer.headers.get("content-encoding"), "br");
    assert.match(answer.headers.get("vary") ?? "", /accept-encoding/i);
  }),
  row("no file of the server", async (site) => {
    for (const path of ["/app.mjs", "/server.mjs", "/client/robots.txt"]) {
      assert.equal((await send(site, { path })).status, 404);
    }
  }),
];

export const visitRows: readonly Row[] = [...streamRows, ...sessionRows, ...pageRows, ...routeRows, ...fileRows];
