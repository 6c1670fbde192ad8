/** Test cases: successful calls. @see docs/protocol.md 3 and 5.1 */
import assert from "node:assert/strict";
import { assertCloses, callRequest, cookieHeader, expectResult, send, type WireCase, wireCase } from "./exchange.ts";

const returns = (title: string, fn: string, args: unknown, expected: unknown): WireCase =>
  wireCase(title, async (target) => assert.deepEqual((await expectResult(target, fn, args)).value, expected));

const unchangedValues: readonly unknown[] = [
  null,
  true,
  0,
  -1.5,
  "",
  "a\u0000\u2028\ud83d\ude00</script>",
  [],
  [[1], {}],
  { a: { b: [] } },
];

export const callCases: readonly WireCase[] = [
  ...["$gr%C3%B6%C3%9Fe", "%24gr%C3%B6%C3%9Fe", "%24gr%c3%b6%c3%9fe"].map((name) =>
    wireCase(
      `calls a function whose name has other characters than letters, digits and _, by ${name}`,
      async (target) => {
        assert.equal((await expectResult(target, name, { of: "a" })).value, "L of a");
        const form = { "content-type": "application/x-www-form-urlencoded", origin: target.origin };
        for (const path of [
          `/__web/form/${name}`,
          `/order?__form=${name}`,
          `/order?__form=${name}.0mwscmxpswkak.5E0VLu`,
        ]) {
          const { status, text } = await send(target, { method: "POST", path, headers: form, body: "of=a" });
          // Of a page of another build, in a built application.
          assert.ok(status === 200 || (path.includes("5E0VLu") && status === 409), `${path}: ${status} ${text}`);
        }
      },
      { hostDependent: true },
    ),
  ),
  returns("returns null for a function that returns nothing", "nothing", {}, null),
  returns("calls a function without parameters with an empty object of arguments", "ping", {}, "pong"),
  returns("returns the result of an async function", "echo_async", { value: 1 }, 1),
  ...unchangedValues.map((value) =>
    returns(`passes the value ${JSON.stringify(value)} unchanged to the function and back`, "echo", { value }, value),
  ),
  returns(
    "serialises class instances, dates, big integers, maps, sets, bytes and NaN",
    "values",
    {},
    {
      point: { x: 1, y: 2 },
      date: "1970-01-01T00:00:00.000Z",
      big: "18446744073709551616",
      map: { a: 1 },
      set: [1, 2],
      bytes: "AQID",
      nan: null,
      dict: { d: 1 },
    },
  ),
  ...["move", "move_thrown"].map((fn) =>
    wireCase(`responds with null and X-Redirect to a redirect, with the base and cookies: ${fn}`, async (target) => {
      const response = await send(target, callRequest(fn));
      assert.deepEqual([response.status, response.text], [200, '{"result":null}']);
      assert.equal(response.headers.get("x-redirect"), `${target.base}/users/1?a#b`);
      assert.equal(response.headers.get("location"), null);
      assert.equal(cookieHeader(response), "moved=1");
    }),
  ),
  wireCase("responds with X-Redirect to a redirect to another site, without the base", async (target) => {
    const { headers } = await send(target, callRequest("move", { external: true }));
    assert.equal(headers.get("x-redirect"), "https://elsewhere.example/");
  }),
  wireCase("responds with 500 to a redirect inside a result", async (target) => {
    const { status, headers } = await send(target, callRequest("move_inside"));
    assert.deepEqual([status, headers.get("x-redirect")], [500, null]);
  }),
  wireCase(
    "ends a stream that redirects before its first value with X-Redirect, and after it with an error",
    async (target) => {
      const before = await send(target, callRequest("moving"));
      assert.deepEqual([before.status, before.text], [200, '{"done":true}\n']);
      assert.equal(before.headers.get("x-redirect"), `${target.base}/users/1`);
      const after = await send(target, callRequest("moving", { after: 1 }));
      assert.match(after.text, /^\{"chunk":0\}\n\{"error":\{"code":"internal",/);
      assert.equal(after.headers.get("x-redirect"), null);
    },
  ),
  wireCase(
    "provides the function with the path, method, query, id and headers of the request",
    async (target) => {
      const call = callRequest("request_info", {}, { "x-request-id": "ours-1", "user-agent": "wire" });
      const response = await send(target, { ...call, path: `${call.path}?a=1&a=2&b=%20` });
      assert.deepEqual(JSON.parse(response.text), {
        result: {
          path: `${target.base}/__web/rpc/request_info`,
          method: "POST",
          query: { a: "2", b: " " },
          id: "ours-1",
          agent: "wire",
        },
      });
    },
    { hostDependent: true },
  ),
  wireCase(
    "ignores a byte order mark before the body",
    async (target) => {
      const { status, text } = await send(target, { ...callRequest("ping"), body: '\ufeff{"args":{}}' });
      assert.deepEqual([status, text], [200, '{"result":"pong"}']);
    },
    { answeredByHost: "body-parser", hostDependent: true },
  ),
  wireCase(
    "keeps the connection open after a successful call",
    async (target) => assertCloses(await expectResult(target, "ping"), false),
    { hostDependent: true },
  ),
];
