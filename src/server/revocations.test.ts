/** What `session.revoke` ends, for every kind of handler, in the process that revokes. */
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer } from "#test/compiled-app";
import { issueFeed, openEventStream, poll, requestLive } from "#test/live-client";
import { call, createRevocableApp, enter, KINDS, REVOCABLE_MODULE, streamEvents } from "#test/revocable-app";
import { linesOf, readerOf, textOf } from "#test/streaming-app";
import type { App } from "../app.ts";
import { runOutsideRequests } from "../http/index.ts";
import { session } from "../session/index.ts";
import { visitor } from "../testing/index.ts";

const apps: App[] = [];
function open(options: Parameters<typeof createRevocableApp>[0] = {}): App {
  const app = createRevocableApp(options);
  apps.push(app);
  return app;
}

beforeEach(() => {
  streamEvents.length = 0;
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("the cookie of a revoked user", () => {
  it.each(Object.entries(KINDS))("is refused by a %s [SESSION-11]", async (_kind, send) => {
    const app = open();
    const cookie = await enter(app, "ada");
    const first = await send(app, cookie);
    const reader = readerOf(first);
    expect(textOf(await reader.read())).toContain("ada");
    await reader.cancel();
    await call(app, "revoke", { subject: "ada" });
    const second = await send(app, cookie);
    const secondReader = readerOf(second);
    expect(textOf(await secondReader.read())).toContain("nobody");
    await secondReader.cancel();
  });

  it("is refused for all sign-ins so far, and those of other users are accepted", async () => {
    const app = open();
    const cookies = [await enter(app, "ada"), await enter(app, "ada"), await enter(app, "bob")];
    await call(app, "revoke", { subject: "ada" }, cookies[0]);
    expect(await Promise.all(cookies.map((cookie) => call(app, "who", {}, cookie)))).toEqual([
      "nobody",
      "nobody",
      "bob",
    ]);
  });

  it("is refused in the rest of the request, and the user can sign in again at once [SESSION-12]", async () => {
    const app = open();
    const cookie = await enter(app, "ada");
    const response = await callOverHttp(app, "revoke_and_enter", { user: "ada" }, { headers: { cookie } });
    expect((await response.json()).result).toEqual(["nobody", "ada"]);
    const newCookie = String(response.headers.get("set-cookie")).split(";")[0] ?? "";
    expect(await call(app, "who", {}, newCookie)).toBe("ada");
    expect(await call(app, "who", {}, cookie)).toBe("nobody");
  });

  it("is refused for one sign-in only, if that was revoked by its sid", async () => {
    const app = open();
    const [one, other] = [await enter(app, "ada"), await enter(app, "ada")];
    const { sid } = (await call(app, "sign_in", {}, one)) as { sid: string };
    await call(app, "revoke", { subject: { sid } }, other);
    expect([await call(app, "who", {}, one), await call(app, "who", {}, other)]).toEqual(["nobody", "ada"]);
  });

  it("is refused after app.revoke, which works outside a request", async () => {
    const app = open();
    const cookie = await enter(app, "ada");
    await app.revoke("ada");
    expect(await call(app, "who", {}, cookie)).toBe("nobody");
  });
});

describe("a sign-in", () => {
  /** Signs a user in after `meanwhile`, and returns the status of the response, its `Set-Cookie`, and who it is for. */
  async function signIn(
    meanwhile: (app: App) => Promise<unknown>,
    cookie: (app: App) => Promise<string> | string = () => "",
  ) {
    const renew = compiledServer("renew", async () => {
      session.user(); // or a password is read
      await meanwhile(app);
      session.login("ada");
      return session.user()?.sub;
    });
    const app = open({ modules: [REVOCABLE_MODULE, { renew }] });
    const headers = { cookie: await cookie(app) };
    const response = await callOverHttp(app, "renew", {}, { headers });
    const newCookie = response.headers.get("set-cookie")?.split(";")[0] ?? null;
    const user = newCookie === null ? null : await call(app, "who", {}, newCookie);
    return [response.status, newCookie === null, user];
  }

  const outside = (revoke: () => Promise<unknown>) => runOutsideRequests(revoke);
  const asAda = (app: App) => enter(app, "ada");

  it.each<[string, (app: App) => string | Promise<string>]>([
    ["another session of the user", asAda],
    ["a password", () => ""],
  ])(
    "after %s was checked is refused if the user was revoked since the request began [SESSION-14]",
    async (_, cookie) => {
      expect(await signIn((app) => outside(() => app.revoke("ada")), cookie)).toEqual([401, true, null]);
    },
  );

  it("is refused after the request's own revocation, if its session was revoked before that", async () => {
    const meanwhile = async (app: App) => {
      await outside(() => app.revoke("ada"));
      await session.revoke("ada");
    };
    expect(await signIn(meanwhile, asAda)).toEqual([401, true, null]);
  });

  it("is accepted after the request's own revocations, also by app.revoke", async () => {
    expect(await signIn(() => session.revoke("ada"), asAda)).toEqual([200, false, "ada"]);
    expect(await signIn((app) => app.revoke("ada"), asAda)).toEqual([200, false, "ada"]);
    const twice = async () => {
      await session.revoke({ sid: session.sid ?? "" });
      await session.revoke("ada");
    };
    expect(await signIn(twice, asAda)).toEqual([200, false, "ada"]);
  });

  it("is accepted if another user was revoked since the request began, or the user before it", async () => {
    expect(await signIn((app) => outside(() => app.revoke("bob")))).toEqual([200, false, "ada"]);
    const revoked = async (app: App) => {
      await app.revoke("ada");
      return "";
    };
    expect(await signIn(async () => undefined, revoked)).toEqual([200, false, "ada"]);
  });
});

describe("a simulated client of tsweb/testing", () => {
  it("is signed out by a revocation, and can sign in again after it", async () => {
    const app = open();
    const guest = visitor(app);
    guest.login("ada");
    expect((await guest.get("/page")).text).toContain("ada");
    await app.revoke("ada");
    expect((await guest.get("/page")).text).toContain("nobody");
    guest.login("ada");
    expect((await guest.get("/page")).text).toContain("ada");
  });
});

describe("session.sid and session.issued_at", () => {
  it("are those of the sign-in, and null for a signed-out client", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 2, 3, 4, 5, 678) });
    const app = open();
    const cookie = await enter(app, "ada");
    const expected = { sid: expect.stringMatching(/^[\w-]{22}$/), issued_at: "2026-01-02T03:04:05.000Z" };
    expect(await call(app, "sign_in", {}, cookie)).toEqual(expected);
    expect(await call(app, "sign_in")).toEqual({ sid: null, issued_at: null });
  });
});

describe("what is open when a user is revoked", () => {
  it("a stream ends with the error unauthenticated, its signal aborts and its finally runs [SESSION-15]", async () => {
    const app = open();
    const [ada, bob] = [await enter(app, "ada"), await enter(app, "bob")];
    const streams = await Promise.all(
      [ada, bob].map((cookie) => callOverHttp(app, "stream", {}, { headers: { cookie } })),
    );
    const [adas, bobs] = streams.map((response) => readerOf(response));
    await adas?.read();
    await bobs?.read();
    const next = adas?.read();
    await app.revoke("ada");
    expect(textOf((await next) ?? {})).toBe(
      '{"error":{"code":"unauthenticated","message":"You were signed out.","details":{}}}\n',
    );
    expect((await adas?.read())?.done).toBe(true);
    await expect.poll(() => streamEvents).toContain("ended");
    expect(console.error).not.toHaveBeenCalled();
    await bobs?.cancel();
  });

  it("a stream that has not been read for the first time ends too", async () => {
    const app = open();
    const cookie = await enter(app, "ada");
    const response = await callOverHttp(app, "stream", {}, { headers: { cookie } });
    await app.revoke("ada");
    expect(await linesOf(response)).toEqual([
      { chunk: "ada" },
      { error: expect.objectContaining({ code: "unauthenticated" }) },
    ]);
  });

  it("the stream of a client that a revoked cookie has signed out before is not ended", async () => {
    const app = open();
    const cookie = await enter(app, "ada");
    await app.revoke("ada");
    const client = new AbortController();
    const reader = readerOf(await callOverHttp(app, "stream", {}, { headers: { cookie }, signal: client.signal }));
    expect(textOf(await reader.read())).toContain("nobody");
    const next = reader.read();
    await app.revoke("ada");
    await app.revoke("bob");
    expect(
      await Promise.race([next.then(() => "ended"), new Promise((resolve) => setImmediate(resolve))]),
    ).toBeUndefined();
    client.abort();
    await expect.poll(() => streamEvents).toContain("ended");
  });

  it("an event stream ends, and its feed then has the gap expired [SESSION-16]", async () => {
    const app = open();
    const cookie = await enter(app, "ada");
    const feed = await issueFeed(app, "room", { cookie });
    const stream = await openEventStream(app, [feed], { headers: { cookie } });
    await app.publish("room", "before");
    expect(await stream.take(1)).toEqual(["before"]);
    await app.revoke("ada");
    await app.publish("room", "after");
    await expect(stream.take(1)).rejects.toThrow("The event stream has ended.");
    expect((await poll(app, [feed], { headers: { cookie } })).gaps).toEqual([["room", "expired"]]);
  });

  it("a poll that waits returns, without the messages of after that", async () => {
    const app = open();
    const cookie = await enter(app, "ada");
    const feed = await issueFeed(app, "room", { cookie });
    const waiting = requestLive(app, "poll", [feed], { wait: 25, headers: { cookie } });
    await new Promise((resolve) => setImmediate(resolve));
    await app.revoke("ada");
    await app.publish("room", "after");
    expect(await (await waiting).json()).toMatchObject({ events: [] });
  });
});

describe("session.revoke", () => {
  it.each([undefined, null, "", 5, {}, { sid: "" }, { sid: 5 }, { sub: "ada" }, { sid: "x", sub: "ada" }, ["ada"]])(
    "throws a TypeError for %j, which would sign nobody out",
    async (subject) => {
      await expect(Reflect.apply(open().revoke, apps.at(-1), [subject])).rejects.toThrow(
        "session.revoke: expected a user id or { sid }. Received:",
      );
    },
  );

  it("throws in production without a place to store revocations, and sessions are valid as before", async () => {
    const app = open({ env: { WEB_AUTH_SECRET: randomBytes(32).toString("hex"), WEB_ENV: "production" } });
    const cookie = await enter(app, "ada");
    await expect(app.revoke("ada")).rejects.toThrow("neither WEB_BUS_URL nor WEB_DATA_DIR is set");
    expect(await call(app, "who", {}, cookie)).toBe("ada");
  });
});
