/** Test cases: forms, at both of their addresses. @see docs/protocol.md 15 */
import assert from "node:assert/strict";
import {
  assertCloses,
  expectError,
  expectResult,
  send,
  signIn,
  type Target,
  type Variant,
  type WireCase,
  type WireRequest,
  wireCase,
} from "./exchange.ts";

const URLENCODED = { "content-type": "application/x-www-form-urlencoded" } as const;

/** Returns the form of a function that a browser sends to a page, without script. */
function pageForm({ origin }: Target, path: string, body: string): WireRequest {
  return { method: "POST", path, headers: { ...URLENCODED, origin }, body };
}

/** Returns a form as a script sends it: multipart, with a file that no parameter takes. */
function multipartForm({ origin }: Target, name: string, fields: Readonly<Record<string, string>>): WireRequest {
  const part = (head: string, content: string) =>
    `--b0undary\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  const texts = Object.entries(fields).map(([field, value]) => part(`name="${field}"`, value));
  return {
    method: "POST",
    path: `/__web/form/${name}`,
    headers: { "content-type": "multipart/form-data; boundary=b0undary", origin },
    body: `${texts.join("")}${part('name="item"; filename="a.txt"', "file")}--b0undary--\r\n`,
  };
}

async function runsOf(target: Target): Promise<unknown> {
  return (await expectResult(target, "runs_of", { name: "ping" })).value;
}

/** Asserts the status and the text of a response, and that the function `ping` has not run. */
async function expectRefused(target: Target, request: WireRequest, status: number): Promise<void> {
  const before = await runsOf(target);
  const response = await send(target, request);
  assert.equal(response.status, status, response.text);
  assert.equal(await runsOf(target), before);
  assertCloses(response, true);
}

const refuses = (title: string, status: number, change: (target: Target) => Partial<WireRequest>): WireCase[] =>
  ["/order?__form=ping", "/__web/form/ping"].map((path) =>
    wireCase(`refuses a form at ${path} ${title}`, (target) =>
      expectRefused(target, { ...pageForm(target, path, ""), ...change(target) }, status),
    ),
  );

const withToken = (title: string, run: WireCase["run"], variant: Variant = "csrf") => wireCase(title, run, { variant });

export const formCases: readonly WireCase[] = [
  wireCase("renders the form of a function with its address", async (target) => {
    const { text } = await send(target, { path: "/order?a=1&b" });
    // In built applications, the name has the build and the hash of the function after it (3.9).
    const [, action] =
      /<form action="([^"]*?)(?:\.[0-9a-z]{13}\.[\w-]{6})?" method="post" enctype="multipart\/form-data">/.exec(text) ??
      [];
    assert.equal(action, `${target.base}/order?a=1&amp;b&amp;__form=order`, text);
  }),
  wireCase(
    "shows the result of a form in the page, without its parameter in the query",
    async (target) => {
      const { status, text } = await send(target, pageForm(target, "/order?a=1&__form=order", "item=tea&quantity=2"));
      assert.equal(status, 200);
      assert.match(
        text,
        /result {&quot;item&quot;:&quot;tea&quot;,&quot;quantity&quot;:2} query {&quot;a&quot;:&quot;1&quot;}/,
      );
    },
    { hostDependent: true },
  ),
  wireCase("redirects to the page after a form without a result", async (target) => {
    const { status, headers, text } = await send(target, pageForm(target, "/order?a=1&__form=nothing", ""));
    assert.deepEqual([status, headers.get("location"), text], [303, `${target.base}/order?a=1`, ""]);
    assert.equal(headers.get("cache-control"), "private, no-store");
  }),
  wireCase("shows a refused form with its status, its errors and what was typed", async (target) => {
    const { status, text } = await send(target, pageForm(target, "/order?__form=order", "item=%22tea&quantity=x"));
    assert.equal(status, 422);
    assert.match(text, /value="&quot;tea".*value="x" autofocus aria-invalid="true"/);
    assert.ok(text.includes("Quantity: Enter a whole number."));
  }),
  wireCase("accepts a form at a path without a page", async (target) => {
    const { status } = await send(target, pageForm(target, "/nowhere?__form=nothing", ""));
    assert.equal(status, 303);
  }),
  wireCase("responds to POST without the parameter, and to that of a route, as without forms", async (target) => {
    const withoutParameter = await send(target, pageForm(target, "/order", "item=tea"));
    assert.deepEqual([withoutParameter.status, withoutParameter.headers.get("allow")], [405, "GET, HEAD"]);
    const route = await send(target, pageForm(target, "/files/a?__form=ping", ""));
    assert.equal(route.status, 405);
  }),
  wireCase(
    "responds to a form of a script as to a call, with and without a declared length",
    async (target) => {
      const form = multipartForm(target, "order", { item: "tea", quantity: " 3 " });
      for (const chunked of [false, true] as const) {
        const { status, text } = await send(target, { ...form, chunked });
        assert.deepEqual([status, text], [200, '{"result":{"item":"tea","quantity":3}}']);
      }
    },
    { hostDependent: true },
  ),
  wireCase("reports all fields of a form of a script at once", async (target) => {
    await expectError(target, multipartForm(target, "add", { a: "x", b: "1.5" }), {
      status: 422,
      code: "validation_error",
      details: { parameter: "a", errors: { a: "Enter a whole number.", b: "Enter a whole number." } },
    });
  }),
  ...refuses("from another site", 403, () => ({ headers: { ...URLENCODED, origin: "https://evil.example" } })),
  ...refuses("with Origin: null", 403, () => ({ headers: { ...URLENCODED, origin: "null" } })),
  ...refuses("without Origin and Sec-Fetch-Site", 403, () => ({ headers: URLENCODED })),
  ...refuses("with plain text", 415, ({ origin }) => ({
    headers: { "content-type": "text/plain", origin },
    body: "a=1",
  })),
  ...refuses("over 1 MiB", 413, () => ({ body: `a=${"x".repeat(1024 * 1024)}` })),
  withToken("accepts a form of a function that requires a sign-in with the token of its page only", async (target) => {
    const { cookie = "", "x-csrf-token": token = "" } = await signIn(target);
    const form = (body: string) => {
      const { headers, ...rest } = pageForm(target, "/order?__form=secret", body);
      return { ...rest, headers: { ...headers, cookie } };
    };
    const refused = await send(target, form("__csrf=x"));
    assert.equal(refused.status, 403);
    const [, fresh = ""] = /name="__csrf" value="([\w-]{64})"/.exec(refused.text) ?? [];
    for (const valid of [token, fresh]) assert.equal((await send(target, form(`__csrf=${valid}`))).status, 200);
  }),
];
