/** Test cases: the session and other cookies. @see docs/protocol.md 2.10 and 7 */
import assert from "node:assert/strict";
import { callRequest, cookieHeader, expectError, expectResult, signIn, type WireCase, wireCase } from "./exchange.ts";

export const sessionCases: readonly WireCase[] = [
  wireCase("stores the session in a signed cookie for seven days", async (target) => {
    const response = await expectResult(target, "login", { sub: "ada", roles: ["admin"] });
    assert.equal(response.value, null);
    const [line = "", ...otherLines] = response.headers.getSetCookie();
    assert.deepEqual(otherLines, []);
    assert.match(line, /^web_session(?:_wire)?=[\w-]+\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
    const [payload = ""] = line.slice(line.indexOf("=") + 1).split(".");
    const { sub, name, roles, iat, exp } = JSON.parse(Buffer.from(payload, "base64url").toString());
    assert.deepEqual(
      { sub, name, roles, seconds: exp - iat },
      { sub: "ada", name: "Ada", roles: ["admin"], seconds: 604800 },
    );
    const { value } = await expectResult(target, "whoami", {}, { cookie: cookieHeader(response) });
    assert.deepEqual(value, { sub: "ada", name: "Ada", roles: ["admin"] });
  }),
  wireCase(
    "sets the session cookie with Secure and the prefix __Host-, if WEB_COOKIE_SECURE is set",
    async (target) => {
      const response = await expectResult(target, "login", { sub: "ada" });
      assert.match(
        response.headers.getSetCookie()[0] ?? "",
        /^__Host-web_session(?:_wire)?=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
      assert.match(response.headers.get("strict-transport-security") ?? "", /^max-age=\d+$/);
      const cookie = cookieHeader(response);
      assert.equal((await expectResult(target, "whoami", {}, { cookie })).value.sub, "ada");
      const withoutPrefix = cookie.replace("__Host-", "");
      assert.equal((await expectResult(target, "whoami", {}, { cookie: withoutPrefix })).value, null);
    },
    { variant: "secure" },
  ),
  wireCase("clears the session cookie on session.logout", async (target) => {
    const response = await expectResult(target, "logout", {}, await signIn(target));
    assert.match(
      response.headers.getSetCookie().at(-1) ?? "",
      /^web_session(?:_wire)?=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/,
    );
  }),
  wireCase("ignores a session cookie in which any part was changed", async (target) => {
    const { cookie = "" } = await signIn(target);
    for (const at of [cookie.indexOf("=") + 2, cookie.indexOf(".") - 2, cookie.indexOf(".") + 2, cookie.length - 2]) {
      const changed = cookie.slice(0, at) + (cookie[at] === "A" ? "B" : "A") + cookie.slice(at + 1);
      assert.equal((await expectResult(target, "whoami", {}, { cookie: changed })).value, null);
    }
  }),
  wireCase("throws 401 from session.require without a session, and 403 without the role", async (target) => {
    await expectError(target, callRequest("require_any"), { status: 401, code: "unauthenticated" });
    await expectError(target, callRequest("require_admin"), { status: 401, code: "unauthenticated" });
    const withoutRole = await signIn(target);
    assert.equal((await expectResult(target, "require_any", {}, withoutRole)).value, "ada");
    await expectError(target, callRequest("require_admin", {}, withoutRole), { status: 403, code: "forbidden" });
    assert.equal((await expectResult(target, "require_admin", {}, await signIn(target, ["admin"]))).value, "ada");
  }),
  wireCase("signs in the user of a bearer token, and not that of the session cookie", async (target) => {
    const { cookie = "" } = await signIn(target, ["admin"]);
    const headers = { authorization: "Bearer token-of-robot", cookie };
    const { value, headers: received } = await expectResult(target, "whoami", {}, headers);
    assert.equal(value.sub, "robot");
    assert.deepEqual(received.getSetCookie(), []);
    await expectError(target, callRequest("require_admin", {}, headers), { status: 403, code: "forbidden" });
    await expectError(target, callRequest("login", { sub: "ada" }, headers), { status: 500, code: "internal" });
  }),
  wireCase("refuses a bearer token that is not valid, also with a session cookie", async (target) => {
    const { cookie = "" } = await signIn(target);
    for (const [authorization, status, code, reason] of [
      ["Bearer unknown", 401, "unauthenticated", "invalid_token"],
      ["Bearer", 400, "validation_error", "invalid_request"],
      ["Bearer a b", 400, "validation_error", "invalid_request"],
    ] as const) {
      const headers = { "www-authenticate": `Bearer error="${reason}"` };
      const expected = { status, code, closes: true, headers, caching: "private, no-store" };
      await expectError(target, callRequest("whoami", {}, { authorization, cookie }), expected);
    }
    const basic = await expectResult(target, "whoami", {}, { authorization: "Basic YTpi", cookie });
    assert.equal(basic.value.sub, "ada");
  }),
  wireCase(
    "sends one Set-Cookie line for each cookie, and decodes the values of the request",
    async (target) => {
      const response = await expectResult(target, "cookies", {}, { cookie: "a=1; b=%20x; bad=%zz; =; q" });
      assert.deepEqual(response.headers.getSetCookie(), [
        "one=1; Max-Age=60; Path=/; HttpOnly; SameSite=Lax",
        "two=a%20b%3B%C3%A9; Path=/; HttpOnly; SameSite=Lax",
        "cleared=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax",
      ]);
      const { a, b, bad } = response.value;
      assert.deepEqual({ a, b, bad }, { a: "1", b: " x", bad: "%zz" });
      const [, two = ""] = response.headers.getSetCookie();
      assert.equal((await expectResult(target, "cookies", {}, { cookie: two.split(";")[0] ?? "" })).value.two, "a b;é");
    },
    { hostDependent: true },
  ),
];
