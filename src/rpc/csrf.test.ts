import { describe, expect, it } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { RPCError } from "../errors.ts";
import { session } from "../session/index.ts";

const CSRF = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_CSRF_SECRET: "3c".repeat(32) };

/** Returns the cookie and the CSRF token of a response, as the next request sends them. */
function credentialsOf(response: Response): { cookie: string; token: string | null } {
  const cookie = response.headers.getSetCookie().map((line) => line.split(";")[0]);
  return { cookie: cookie.join("; "), token: response.headers.get("x-csrf-token") };
}

async function errorOf(response: Response): Promise<{ code: string; message: string }> {
  return (await response.json()).error;
}

describe("the CSRF token of a call", () => {
  const functions = {
    enter: compiledServer("enter", (who: string) => session.login(who), { params: { who: "any" } }),
    leave: compiledServer("leave", () => session.logout()),
    spend: compiledServer("spend", () => session.user()?.sub, { options: { auth_required: true } }),
    open: compiledServer("open", () => "anyone"),
  };
  const site = () => createTestApp(functions, { env: CSRF });

  it("is required by functions with auth_required only", async () => {
    const app = site();
    expect((await callOverHttp(app, "open")).status).toBe(200);
    expect((await callOverHttp(app, "spend")).status).toBe(401);
    const { cookie } = credentialsOf(await callOverHttp(app, "enter", { who: "ada" }));
    const rejected = await callOverHttp(app, "spend", {}, { headers: { cookie } });
    expect(rejected.status).toBe(403);
    expect(await errorOf(rejected)).toMatchObject({ code: "forbidden" });
    expect((await callOverHttp(app, "open", {}, { headers: { cookie } })).status).toBe(200);
  });

  it("is in the response that signs in, and is valid without loading a page", async () => {
    const app = site();
    const { cookie, token } = credentialsOf(await callOverHttp(app, "enter", { who: "ada" }));
    const headers = { cookie, "x-csrf-token": token ?? "" };
    const spent = await callOverHttp(app, "spend", {}, { headers });
    expect(await spent.json()).toEqual({ result: "ada" });
    expect(spent.headers.has("x-csrf-token")).toBe(false);
    const left = await callOverHttp(app, "leave", {}, { headers });
    expect(credentialsOf(left).token).not.toBe(token);
    expect(credentialsOf(left).token).not.toBeNull();
  });

  it("is rejected if it belongs to an earlier sign-in (another tab), and the response has a valid one", async () => {
    const app = site();
    const first = credentialsOf(await callOverHttp(app, "enter", { who: "ada" }));
    const second = credentialsOf(await callOverHttp(app, "enter", { who: "ada" }));
    const headers = { cookie: second.cookie, "x-csrf-token": first.token ?? "" };
    const rejected = await callOverHttp(app, "spend", {}, { headers });
    expect(rejected.status).toBe(403);
    const fresh = rejected.headers.get("x-csrf-token") ?? "";
    expect((await callOverHttp(app, "spend", {}, { headers: { ...headers, "x-csrf-token": fresh } })).status).toBe(200);
  });

  it("is also in an error response of a call that signed in and then failed on purpose", async () => {
    const both = compiledServer("both", () => {
      session.login("ada");
      throw new RPCError("conflict", "after");
    });
    expect(credentialsOf(await callOverHttp(createTestApp({ both }, { env: CSRF }), "both")).token).not.toBeNull();
  });

  it("is not in a 403 response of the function itself, because clients would repeat the call", async () => {
    const both = compiledServer("both", () => {
      session.login("ada");
      throw new RPCError("forbidden", "Not you.");
    });
    expect(credentialsOf(await callOverHttp(createTestApp({ both }, { env: CSRF }), "both")).token).toBeNull();
  });

  it("is neither required nor sent without WEB_CSRF_SECRET", async () => {
    const app = createTestApp(functions);
    const entered = await callOverHttp(app, "enter", { who: "ada" });
    expect(credentialsOf(entered).token).toBeNull();
    expect((await callOverHttp(app, "spend", {}, { headers: { cookie: credentialsOf(entered).cookie } })).status).toBe(
      200,
    );
  });
});
