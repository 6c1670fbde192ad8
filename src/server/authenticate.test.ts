/** The function authenticate of an application, and the counts of requests with a bearer token. @see docs/protocol.md 7.9 */
import { describe, expect, it, vi } from "vitest";
import {
  authenticate,
  bearer,
  COOKIE,
  call,
  createApp,
  ENV,
  errorOf,
  KINDS,
  LIVE,
  lines,
  seen,
  USERS,
  useBearerApp,
} from "#test/bearer-app";
import { signInCookie, testConfig } from "#test/request-context";
import { request } from "../http/index.ts";
import { session } from "../session/index.ts";

useBearerApp();

describe("the counts of requests with a bearer token", () => {
  it.each(Object.entries({ ...KINDS, ...LIVE }))(
    "count a %s for its address before authenticate is called [BEARER-19]",
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
    const authenticateCall = vi.fn(() => new Promise<{ sub: string }>((resolve) => (accept = resolve)));
    const pending = call(createApp({ authenticate: authenticateCall }), "open", { ...bearer("slow"), cookie: COOKIE });
    while (authenticateCall.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
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
