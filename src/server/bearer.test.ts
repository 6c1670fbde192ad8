/** Requests with a bearer token, for every kind of handler that accepts one. @see docs/protocol.md 7.9 */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";
import { signInCookie, testConfig } from "#test/request-context";
import type { App, AppOptions } from "../app.ts";
import { request } from "../http/index.ts";
import { channel } from "../live/index.ts";
import { type Authenticate, session } from "../session/index.ts";

const ENV = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_CSRF_SECRET: "6b".repeat(32) };
const COOKIE = signInCookie("ada", { roles: ["admin"] }, testConfig(ENV));

/** Who the tokens of the tests belong to. */
const USERS: Readonly<Record<string, { sub: string; roles: string[] } | undefined>> = {
  "token-of-grace": { sub: "grace", roles: ["editor"] },
  "token-of-linus": { sub: "linus", roles: [] },
};

/** The users that handlers have seen. */
let seen: (string | undefined)[] = [];
const see = () => {
  seen.push(session.user()?.sub);
  return session.user()?.sub ?? null;
};

interface Line {
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** Returns the error of a line of the log. */
function errorOf(line: Line | undefined): Error {
  const err = line?.fields.err;
  if (err instanceof Error) return err;
  if (typeof err === "string") return new Error(err);
  throw new Error("The line has no error.");
}

const lines: Line[] = [];
const log = {
  info: () => undefined,
  warn: (fields: object, message: string) => void lines.push({ fields: { ...fields }, message }),
  error: (fields: object, message: string) => void lines.push({ fields: { ...fields }, message }),
};

beforeEach(() => {
  seen = [];
  lines.length = 0;
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const open = compiledServer("open", see);
const secret = compiledServer("secret", see, { options: { auth_required: true } });
const ticks = compiledServer(
  "ticks",
  function* () {
    yield see();
  },
  { stream: true, options: { auth_required: true } },
);
const upload = compiledServer("upload", (file: File) => `${see()} ${file.name}`, {
  params: { file: { type: "any", files: "one" } },
  options: { auth_required: true },
});
const feed = compiledServer("feed", async (name: string) => channel(name), { params: { name: "any" } });
const signIn = compiledServer("signIn", () => session.login("eve"));
const signOut = compiledServer("signOut", () => session.logout());
const about = compiledServer("about", () => {
  const { sid, issued_at } = session;
  return { sid, issued_at, user: session.user() };
});
const editors = compiledServer("editors", () => session.require("editor" as never).sub);
const page = compiledPage("/page", () => `user ${see()}`);
const read = compiledRoute("GET /read", () => new Response(see()));
const write = compiledRoute("POST /write", async (sent) => new Response(`${see()} ${await sent.text()}`));
const shared = compiledRoute(
  "GET /shared",
  () => new Response("data", { headers: { "cache-control": "public, max-age=60", "cdn-cache-control": "max-age=60" } }),
);
const MODULE = { open, secret, ticks, upload, feed, signIn, signOut, about, editors, page, read, write, shared };

const authenticate: Authenticate = async (token) => USERS[token] ?? null;

function createApp(options: Partial<AppOptions> = {}): App {
  return createTestApp(MODULE, { env: ENV, authenticate, log, ...options });
}

interface Sent extends RequestInit {
  readonly duplex?: "half";
}

function send(app: App, path: string, init: Sent = {}): Promise<Response> {
  return app.fetch(new Request(`http://shop.example${path}`, init), { address: "192.0.2.1" });
}

type Headers = Readonly<Record<string, string>>;

function call(app: App, name: string, headers: Headers, args: object = {}): Promise<Response> {
  const body = JSON.stringify({ args });
  return send(app, `/__web/rpc/${name}`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  });
}

function sendFile(app: App, headers: Headers): Promise<Response> {
  const form = new FormData();
  form.set("file", new File(["text"], "a.txt"));
  return send(app, "/__web/form/upload", { method: "POST", body: form, headers });
}

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** The kinds of requests that accept a bearer token. Each handler calls `see`. */
const KINDS: Readonly<Record<string, (app: App, headers: Headers) => Promise<Response>>> = {
  function: (app, headers) => call(app, "open", headers),
  "function with auth_required": (app, headers) => call(app, "secret", headers),
  stream: (app, headers) => call(app, "ticks", headers),
  "form with a file": sendFile,
  "GET route": (app, headers) => send(app, "/read", { headers }),
  "POST route": (app, headers) => send(app, "/write", { method: "POST", body: "text", headers }),
};

/** A feed that any client may use. It is of another application with the same secret, so that its call is not counted. */
const openFeed = feedOf(createApp(), {});

/** Live requests run no code of the application. */
const LIVE: Readonly<Record<string, (app: App, headers: Headers) => Promise<Response>>> = {
  "event stream": async (app, headers) => send(app, `/__web/live?feed=${await openFeed}`, { headers }),
  poll: async (app, headers) => send(app, `/__web/poll?feed=${await openFeed}`, { headers }),
};

async function feedOf(app: App, headers: Headers): Promise<string> {
  const { result } = await (await call(app, "feed", headers, { name: "room" })).json();
  return encodeURIComponent(result);
}

async function expectInvalidToken(response: Response): Promise<void> {
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
  expect(response.headers.get("cache-control")).toBe("private, no-store");
  expect(response.headers.getSetCookie()).toEqual([]);
  expect(await response.json()).toEqual({
    error: { code: "unauthenticated", message: "The bearer token is not valid.", details: {} },
  });
}

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

describe("the counts of requests with a bearer token", () => {
  it.each(Object.entries({ ...KINDS, ...LIVE }))(
    "count a %s for its address before authenticate is asked [BEARER-19]",
    async (_, sendKind) => {
      const ask = vi.fn(authenticate);
      const app = createApp({ authenticate: ask, rate: { calls: 5, seconds: 60, per_address: 5 } });
      for (const status of [401, 401, 401, 401, 401, 429, 429, 429]) {
        const response = await sendKind(app, bearer("unknown"));
        expect(response.status).toBe(status);
        expect(await response.json()).toMatchObject({
          error: { code: status === 401 ? "unauthenticated" : "rate_limited" },
        });
      }
      expect(ask).toHaveBeenCalledTimes(5);
    },
  );

  it("count a refused token as a call of a signed-out client, and lock out no other user of the address [BEARER-20]", async () => {
    const app = createApp({ rate: { calls: 3, seconds: 60 } });
    for (const status of [401, 401, 401, 429, 429]) {
      expect((await call(app, "open", bearer("unknown"))).status).toBe(status);
    }
    expect((await call(app, "open", {})).status).toBe(429);
    for (const token of ["token-of-grace", "token-of-linus"]) {
      for (const status of [200, 200, 200, 429]) expect((await call(app, "open", bearer(token))).status).toBe(status);
    }
    expect((await call(app, "open", { cookie: COOKIE })).status).toBe(200);
  });

  it("count an accepted token for its user, with that user's cookie", async () => {
    const app = createApp({ rate: { calls: 3, seconds: 60 } });
    const cookie = signInCookie("grace", {}, testConfig(ENV));
    for (const headers of [bearer("token-of-grace"), { cookie }, bearer("token-of-grace")]) {
      expect((await call(app, "open", headers)).status).toBe(200);
    }
    for (const headers of [bearer("token-of-grace"), { cookie }]) {
      expect((await call(app, "open", headers)).status).toBe(429);
    }
  });
});

describe("authenticate", () => {
  it("runs in a request in which nobody is signed in, whatever the cookie [BEARER-14]", async () => {
    const users: unknown[] = [];
    const app = createApp({
      authenticate: async (token) => {
        users.push(session.user(), session.sid, request.path);
        return USERS[token] ?? null;
      },
    });
    expect((await call(app, "open", { ...bearer("token-of-grace"), cookie: COOKIE })).status).toBe(200);
    expect(users).toEqual([null, null, "/__web/rpc/open"]);
    expect(seen).toEqual(["grace"]);
  });

  it("is answered with 503 if it takes longer than 5 seconds, also if it accepts later [BEARER-17]", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let accept: (user: { sub: string }) => void = () => undefined;
    const asked = vi.fn(() => new Promise<{ sub: string }>((resolve) => (accept = resolve)));
    const pending = call(createApp({ authenticate: asked }), "open", { ...bearer("slow"), cookie: COOKIE });
    while (asked.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(lines).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect((await pending).status).toBe(503);
    accept({ sub: "grace" });
    expect(seen).toEqual([]);
    expect(lines.map((line) => errorOf(line).message)).toEqual([
      "authenticate of new App took longer than 5 s. Give the queries in it a time limit.",
    ]);
  });

  it.each([
    ["a text", "grace", "returned a value of type string"],
    ["true", true, "returned a value of type boolean"],
    ["an array", [{ sub: "grace" }], "returned an array"],
    ["an instance of a class", new Map([["sub", "grace"]]), "returned an instance of a class"],
    ["no user id", { roles: [] }, "the user id must be a non-empty string. Received: undefined."],
    ["an empty user id", { sub: "" }, "Received: an empty string."],
    ["a number as the user id", { sub: 1 }, "Received: number. Convert a number with String(id)."],
    ["an object as the user id", { sub: {} }, "Pass its id: { sub: String(user.id) }."],
    ["one role", { sub: "grace", roles: "admin" }, "claims.roles must be an array of strings"],
    ["roles that are no strings", { sub: "grace", roles: [1] }, "claims.roles must be an array of strings"],
    ["the claims of a JWT", { sub: "grace", exp: 1, iat: 1 }, 'a claim cannot be named "exp"'],
    ["a date", { sub: "grace", born: new Date(0) }, "claims.born is an instance of a class"],
    ["a prototype", JSON.parse('{"sub":"grace","__proto__":{"roles":["admin"]}}'), "claims has a field"],
  ])("is answered with 503 if it returns %s, and the log says why [BEARER-15]", async (_, result, message) => {
    const app = createApp({ authenticate: async () => result as never });
    const response = await call(app, "open", { ...bearer("token-of-grace"), cookie: COOKIE });
    expect(response.status).toBe(503);
    expect(seen).toEqual([]);
    const [line, ...others] = lines;
    expect(others).toEqual([]);
    expect(errorOf(line).message).toContain("authenticate of new App: ");
    expect(errorOf(line).message).toContain(message);
  });

  it("can return its user at once", async () => {
    const app = createApp({ authenticate: (token) => USERS[token] ?? null });
    expect((await call(app, "secret", bearer("token-of-grace"))).status).toBe(200);
  });

  it("never leads to a log line or a response with the token [BEARER-16]", async () => {
    const token = "0123456789abcdef-token";
    const readBody = (text: string) => {
      throw new Error(`${text} was read before`);
    };
    const throwing: (() => unknown)[] = [
      () => new Error(`invalid token ${token}`),
      () => new Error("failed", { cause: new Error(`query failed: ${token}`) }),
      () => Object.assign(new Error("failed"), { code: token }),
      () => new AggregateError([new Error(token)], "several"),
      () => `invalid token ${token}`,
      () => Object.assign(new Error("failed"), { stack: `Error: failed\n at ${token}` }),
      () => Object.defineProperty(new Error("failed"), "body", { enumerable: true, get: () => readBody(token) }),
    ];
    for (const thrown of throwing) {
      lines.length = 0;
      const app = createApp({
        authenticate: async () => {
          throw thrown();
        },
      });
      const response = await call(app, "open", bearer(token));
      expect(response.status).toBe(503);
      const err = errorOf(lines[0]);
      const logged = [err.message, err.stack, JSON.stringify(err), String(err.cause), String(err)].join();
      expect(logged).not.toContain(token);
      expect(`${await response.text()}${JSON.stringify([...response.headers])}`).not.toContain(token);
    }
  });

  it("is refused as an option if it is no function", () => {
    expect(() => createApp({ authenticate: {} as never })).toThrow("new App: authenticate must be a function.");
  });
});
