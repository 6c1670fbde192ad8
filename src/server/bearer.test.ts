/** Requests with a bearer token, for every kind of handler that accepts one. @see docs/protocol.md 7.9 */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  authenticate,
  bearer,
  COOKIE,
  call,
  createApp,
  ENV,
  expectInvalidToken,
  feedOf,
  type Headers,
  KINDS,
  LIVE,
  lines,
  log,
  MODULE,
  see,
  seen,
  send,
  useBearerApp,
} from "#test/bearer-app";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";
import { signInCookie, testConfig } from "#test/request-context";
import { session } from "../session/index.ts";

useBearerApp();

describe.each(Object.entries({ ...KINDS, ...LIVE }))("a %s with a bearer token", (kind, sendKind) => {
  const runsCode = kind in KINDS;

  it("is accepted with the user of the token, whose session cookie is not read [BEARER-1]", async () => {
    for (const cookie of ["", COOKIE, "web_session=forged"]) {
      const response = await sendKind(createApp(), { ...bearer("token-of-grace"), ...(cookie && { cookie }) });
      expect(response.status).toBe(200);
      expect(response.headers.getSetCookie()).toEqual([]);
      if (runsCode) await response.text();
      else await response.body?.cancel();
      expect(seen.splice(0)).toEqual(runsCode ? ["grace"] : []);
    }
  });

  it("is refused with 401 if the token is, also with the session cookie of a user [BEARER-2]", async () => {
    for (const result of [null, undefined]) {
      const app = createApp({ authenticate: async () => result });
      await expectInvalidToken(await sendKind(app, bearer("unknown")));
      await expectInvalidToken(await sendKind(app, { ...bearer("unknown"), cookie: COOKIE }));
    }
    expect(seen).toEqual([]);
    expect(lines).toEqual([]);
  });

  it("is decided by its token in development, with a folder of public files too", async () => {
    const app = createApp();
    const folder = mkdtempSync(join(tmpdir(), "tsweb-public-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    setDevelopment(app, { publicFiles: { dir: folder, includes: () => true } });
    await expectInvalidToken(await sendKind(app, { ...bearer("unknown"), cookie: COOKIE }));
    const response = await sendKind(app, { ...bearer("token-of-grace"), cookie: COOKIE });
    expect(response.status).toBe(200);
    if (runsCode) await response.text();
    else await response.body?.cancel();
    expect(seen).toEqual(runsCode ? ["grace"] : []);
  });

  it("is answered with 503 and is not signed out if authenticate throws, with one line in the log [BEARER-3]", async () => {
    const app = createApp({
      authenticate: () => {
        throw new Error("The database is unreachable");
      },
    });
    const response = await sendKind(app, { ...bearer("token-of-grace"), cookie: COOKIE });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("2");
    expect(response.headers.get("www-authenticate")).toBeNull();
    expect(await response.json()).toMatchObject({ error: { code: "internal" } });
    expect(seen).toEqual([]);
    expect(lines).toEqual([
      {
        fields: {
          id: response.headers.get("x-request-id"),
          trace_id: expect.any(String),
          err: expect.objectContaining({ message: "The database is unreachable" }),
        },
        message: "authenticate of new App has failed, so that a bearer token could not be checked",
      },
    ]);
  });

  it.each([
    ["empty", "Bearer"],
    ["of spaces", "Bearer   "],
    ["of two words", "Bearer token-of-grace token-of-linus"],
    ["a list of two", "Bearer token-of-grace, Bearer token-of-linus"],
    ["behind another scheme", "Basic YTpi, Bearer token-of-grace"],
    ["before another scheme", "Bearer token-of-grace, Basic YTpi"],
    ["quoted", 'Bearer "token-of-grace"'],
    ["with a colon", "Bearer a:b"],
    ["with a tab", "Bearer\ttoken-of-grace"],
    ["too long", `Bearer ${"x".repeat(8 * 1024 + 1)}`],
  ])("is refused with 400 if the token is %s, without asking [BEARER-4]", async (_, authorization) => {
    const ask = vi.fn(authenticate);
    const response = await sendKind(createApp({ authenticate: ask }), { authorization, cookie: COOKIE });
    expect(response.status).toBe(400);
    expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_request"');
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ error: { code: "validation_error" } });
    expect(text).not.toContain("token-of");
    expect(ask).not.toHaveBeenCalled();
    expect(seen).toEqual([]);
  });

  it("asks once, with the token, however its scheme is written", async () => {
    for (const scheme of ["Bearer", "bearer", "BEARER  "]) {
      const ask = vi.fn(authenticate);
      const response = await sendKind(createApp({ authenticate: ask }), { authorization: `${scheme} token-of-grace` });
      expect(response.status).toBe(200);
      await response.body?.cancel();
      expect(ask.mock.calls).toEqual([["token-of-grace"]]);
    }
  });

  it.each(["Basic dG9rZW46", "Digest bearer", "Bearertoken-of-grace", "token-of-grace", "Negotiate bearer=="])(
    "is handled by its cookie with the header Authorization: %s [BEARER-5]",
    async (authorization) => {
      const ask = vi.fn(authenticate);
      const app = createApp({ authenticate: ask, env: { WEB_AUTH_SECRET: ENV.WEB_AUTH_SECRET } });
      const response = await sendKind(app, { authorization, cookie: COOKIE, origin: "http://shop.example" });
      expect(response.status).toBe(200);
      await (runsCode ? response.text() : response.body?.cancel());
      expect(ask).not.toHaveBeenCalled();
      expect(seen).toEqual(runsCode ? ["ada"] : []);
    },
  );

  it("is handled by its cookie if the application has no authenticate [BEARER-18]", async () => {
    const app = createTestApp(MODULE, { env: { WEB_AUTH_SECRET: ENV.WEB_AUTH_SECRET }, log });
    for (const authorization of ["Bearer token-of-grace", "Bearer", "Bearer a b"]) {
      const response = await sendKind(app, { authorization, cookie: COOKIE, origin: "http://shop.example" });
      expect(response.status).toBe(200);
      await (runsCode ? response.text() : response.body?.cancel());
      expect(seen.splice(0)).toEqual(runsCode ? ["ada"] : []);
    }
  });

  it("takes no token from the query [BEARER-6]", async () => {
    const ask = vi.fn(authenticate);
    const app = createApp({ authenticate: ask });
    const fetch = app.fetch;
    const withQuery = Object.assign(Object.create(app), {
      fetch: (sent: Request, info: never) => {
        const url = `${sent.url}${sent.url.includes("?") ? "&" : "?"}access_token=token-of-grace&token=token-of-grace`;
        return fetch(new Request(url, sent), info);
      },
    });
    await (await sendKind(withQuery, { origin: "http://shop.example" })).body?.cancel();
    expect(ask).not.toHaveBeenCalled();
    expect(seen).not.toContain("grace");
  });
});

describe("a bearer token", () => {
  it("needs no CSRF token and, in a form, no origin, if it is accepted [BEARER-7]", async () => {
    const app = createApp();
    for (const sendKind of [KINDS["function with auth_required"], KINDS.stream, KINDS["form with a file"]]) {
      expect((await sendKind?.(app, bearer("token-of-grace")))?.status).toBe(200);
      // The cookie of a user needs both, whatever else the header has.
      for (const authorization of ["Basic YTpi", ""]) {
        const headers = { cookie: COOKIE, ...(authorization && { authorization }) };
        expect((await sendKind?.(app, headers))?.status).toBe(403);
      }
      expect((await sendKind?.(app, { ...bearer("unknown"), cookie: COOKIE }))?.status).toBe(401);
    }
  });

  it.each([{ origin: "https://evil.example" }, { origin: "null" }, { "sec-fetch-site": "cross-site" }])(
    "does not open a call, form or subscription to pages of other sites, which are refused without asking: %j [BEARER-8]",
    async (headers) => {
      const ask = vi.fn(authenticate);
      const app = createApp({ authenticate: ask });
      const { "GET route": _get, "POST route": _post, ...kinds } = KINDS;
      for (const sendKind of [...Object.values(kinds), ...Object.values(LIVE)]) {
        const response = await sendKind(app, { ...bearer("token-of-grace"), ...headers });
        expect(response.status).toBe(403);
        expect(await response.json()).toMatchObject({ error: { code: "forbidden" } });
      }
      expect(ask).not.toHaveBeenCalled();
      expect(seen).toEqual([]);
      expect((await call(app, "open", { ...bearer("token-of-grace"), origin: "http://shop.example" })).status).toBe(
        200,
      );
    },
  );

  it("has no effect on pages and their forms without script, which are those of the cookie [BEARER-9]", async () => {
    const ask = vi.fn(authenticate);
    const app = createApp({ authenticate: ask });
    for (const headers of [bearer("token-of-grace"), bearer("unknown"), { authorization: "Bearer" }]) {
      expect(await (await send(app, "/page", { headers: { ...headers, cookie: COOKIE } })).text()).toContain(
        "user ada",
      );
      expect(await (await send(app, "/page", { headers })).text()).toContain("user null");
      const form = await send(app, "/page?__form=secret", {
        method: "POST",
        body: new URLSearchParams(),
        headers: { ...headers, origin: "http://shop.example" },
      });
      expect(form.status).toBe(401);
      expect(form.headers.get("www-authenticate")).toBeNull();
      expect((await send(app, "/nothing", { headers })).status).toBe(404);
    }
    expect(ask).not.toHaveBeenCalled();
  });

  it("makes session.login and session.logout throw, and sets no session cookie [BEARER-10]", async () => {
    const app = createApp();
    for (const name of ["signIn", "signOut"]) {
      lines.length = 0;
      const response = await call(app, name, { ...bearer("token-of-grace"), cookie: COOKIE });
      expect(response.status).toBe(500);
      expect(response.headers.getSetCookie()).toEqual([]);
      const method = name === "signIn" ? "session.login" : "session.logout";
      expect(lines[0]?.fields.err).toMatchObject({
        message: `${method} was called in a request with a bearer token, which \`authenticate\` of new App has decided. Such a request sets no session cookie. Call it in a request of a browser, without the header Authorization.`,
      });
    }
  });

  it("has a session with the id of the token and the claims of its user", async () => {
    const sid = `b:${createHash("sha256").update("token-of-grace").digest("base64url").slice(0, 22)}`;
    expect(sid).toHaveLength(24);
    expect(await (await call(createApp(), "about", bearer("token-of-grace"))).json()).toEqual({
      result: { sid, issued_at: null, user: { sub: "grace", roles: ["editor"] } },
    });
  });

  it("has the roles that authenticate returns", async () => {
    const app = createApp();
    expect((await call(app, "editors", bearer("token-of-grace"))).status).toBe(200);
    expect((await call(app, "editors", bearer("token-of-linus"))).status).toBe(403);
  });

  it("is the only one that can use the feeds that were issued to it [BEARER-11]", async () => {
    const app = createApp();
    const ofGrace = await feedOf(app, bearer("token-of-grace"));
    const gapsOf = async (headers: Headers, of: string) =>
      (await (await send(app, `/__web/poll?feed=${of}`, { headers })).json()).gaps;
    expect(await gapsOf(bearer("token-of-grace"), ofGrace)).toEqual([]);
    const sameUser = { cookie: signInCookie("grace", {}, testConfig(ENV)) };
    for (const headers of [bearer("token-of-linus"), sameUser, {}]) {
      expect(await gapsOf(headers, ofGrace)).toEqual([["room", "expired"]]);
    }
    const ofCookie = await feedOf(app, sameUser);
    expect(await gapsOf(sameUser, ofCookie)).toEqual([]);
    expect(await gapsOf({ ...bearer("token-of-grace"), ...sameUser }, ofCookie)).toEqual([["room", "expired"]]);
  });

  it("keeps its user when a request fails and discards what it has set [BEARER-12]", async () => {
    let after: string | undefined;
    const fail = compiledServer("fail", async () => {
      try {
        throw new Error("failed");
      } finally {
        setTimeout(() => {
          after = session.user()?.sub ?? "nobody";
        });
      }
    });
    const app = createTestApp({ fail }, { env: ENV, authenticate, log });
    expect((await call(app, "fail", { ...bearer("token-of-grace"), cookie: COOKIE })).status).toBe(500);
    await expect.poll(() => after).toBe("grace");
  });

  it("decides before the function before, which sees its user", async () => {
    const before = vi.fn(() => void see());
    const app = createApp({ before });
    expect((await call(app, "open", { ...bearer("token-of-grace"), cookie: COOKIE })).status).toBe(200);
    expect(seen).toEqual(["grace", "grace"]);
    await expectInvalidToken(await call(app, "open", { ...bearer("unknown"), cookie: COOKIE }));
    expect(before).toHaveBeenCalledTimes(1);
  });

  it("makes the responses of routes private, whatever they are sent with [BEARER-13]", async () => {
    const app = createApp();
    const { headers } = await send(app, "/shared", { headers: bearer("token-of-grace") });
    expect(headers.get("cache-control")).toBe("private, no-store");
    expect(headers.get("cdn-cache-control")).toBeNull();
    expect(headers.get("vary")).toBe("Authorization");
    expect((await send(app, "/shared")).headers.get("cache-control")).toBe("public, max-age=60");
    expect((await call(app, "open", bearer("token-of-grace"))).headers.get("cache-control")).toBe("private, no-cache");
  });
});
