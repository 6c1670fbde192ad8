import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import type { App, AppOptions } from "../app.ts";
import { session } from "../session/index.ts";
import { type Visitor, visitor } from "../testing/index.ts";

const RATE = { calls: 3, seconds: 60, per_address: 8 };
const OFFICE = "192.0.2.1";

const module = {
  who: compiledServer("who", () => session.user()?.sub ?? null),
  sign_in: compiledServer("sign_in", (user: string) => session.login(user), { params: { user: "any" } }),
  sign_out: compiledServer("sign_out", () => session.logout()),
  sign_out_everywhere: compiledServer("sign_out_everywhere", () => session.revoke(session.require().sub)),
};

function createApp(options: Partial<AppOptions> = {}): App {
  return createTestApp(module, { rate: RATE, ...options });
}

/** The cookies of a user whose sign-in was counted by another address. */
async function cookieOf(app: App, user: string, address = `198.51.100.${++addresses}`): Promise<string> {
  const signedIn = visitor(app, { address });
  await signedIn.rpc("sign_in", { user });
  return cookieHeader(signedIn);
}

let addresses = 0;

const cookieHeader = ({ cookies }: Visitor) =>
  Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join("; ");

/** Sends a call, and returns its status. */
async function call(app: App, { address = OFFICE, cookie }: { address?: string; cookie?: string | undefined } = {}) {
  const headers = { "content-type": "application/json", ...(cookie === undefined ? {} : { cookie }) };
  const request = new Request("http://shop.example/__web/rpc/who", { method: "POST", headers, body: '{"args":{}}' });
  return (await app.fetch(request, { address })).status;
}

/** Sends a number of calls, and returns how many were accepted. */
async function accepted(app: App, count: number, from: Parameters<typeof call>[1] = {}): Promise<number> {
  let sum = 0;
  for (let sent = 0; sent < count; sent++) if ((await call(app, from)) === 200) sum++;
  return sum;
}

let logged: unknown[][] = [];
beforeEach(() => {
  logged = [];
  vi.spyOn(console, "error").mockImplementation((...line) => void logged.push(line));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("the calls of a signed-in client", () => {
  it("count for its user, at whatever address, and not for the signed-out clients of the address [REQUEST-94]", async () => {
    const app = createApp({ rate: { ...RATE, per_address: 100 } });
    const [ada, bob] = [await cookieOf(app, "ada"), await cookieOf(app, "bob")];
    expect(await accepted(app, 9, { cookie: ada })).toBe(3);
    expect(await accepted(app, 9, { cookie: ada, address: "192.0.2.99" })).toBe(0);
    expect(await accepted(app, 9, { cookie: bob })).toBe(3);
    expect(await accepted(app, 9)).toBe(3);
  });

  it("count for one user with every sign-in of it, and with two cookies for the one that is valid [REQUEST-95]", async () => {
    const app = createApp({ rate: { ...RATE, per_address: 100 } });
    const [first, second] = [await cookieOf(app, "ada"), await cookieOf(app, "ada")];
    expect(first).not.toBe(second);
    expect(await accepted(app, 2, { cookie: first })).toBe(2);
    expect(await accepted(app, 9, { cookie: second })).toBe(1);
    const bob = await cookieOf(app, "bob");
    expect(await accepted(app, 9, { cookie: `other=1; ${bob}; ${bob}` })).toBe(3);
  });

  it("do not count for a user or an address whose name is spelled like that of another kind [REQUEST-102]", async () => {
    const app = createApp({ rate: { ...RATE, per_address: 100 } });
    const ada = await cookieOf(app, "ada");
    const likeAddress = await cookieOf(app, OFFICE);
    expect(await accepted(app, 9, { cookie: likeAddress, address: "192.0.2.7" })).toBe(3);
    const subject = createHash("sha256").update("ada").digest().subarray(0, 16).toString("base64url");
    for (const address of [`u:${subject}`, subject, "ada"]) expect(await accepted(app, 9, { address })).toBe(3);
    expect(await accepted(app, 9)).toBe(3);
    expect(await accepted(app, 9, { cookie: ada })).toBe(3);
  });
});

describe("the calls of one address", () => {
  it("are limited as a whole, by default to sixty times the calls of a client [REQUEST-96]", async () => {
    const app = createApp({ rate: { calls: 2, seconds: 60 } });
    let sum = await accepted(app, 9);
    for (let user = 0; user < 61; user++)
      sum += await accepted(app, 3, { cookie: await cookieOf(app, `user ${user}`) });
    expect(sum).toBe(120);
    expect(await call(app, { cookie: await cookieOf(app, "late") })).toBe(429);
    expect(await call(app, { cookie: await cookieOf(app, "late"), address: "192.0.2.2" })).toBe(200);
  });

  it("do not count if they are refused: one user above its limit does not use up the calls of the others [REQUEST-103]", async () => {
    const app = createApp();
    const [ada, bob] = [await cookieOf(app, "ada"), await cookieOf(app, "bob")];
    expect(await accepted(app, 100, { cookie: ada })).toBe(3);
    expect(await accepted(app, 100)).toBe(3);
    expect(await accepted(app, 9, { cookie: bob })).toBe(2); // eight in all
  });

  it("are counted together for all addresses of an IPv6 network of 64 bits [REQUEST-104]", async () => {
    const app = createApp();
    const rotating = (network: number) => Array.from({ length: 20 }, (_, at) => `2001:db8:1:${network}::${at + 1}`);
    const statuses = async (network: number, cookie?: string) => {
      const sent = [];
      for (const address of rotating(network)) sent.push(await call(app, { address, cookie }));
      return sent.filter((status) => status === 200).length;
    };
    expect(await statuses(2)).toBe(3);
    expect(await statuses(2, await cookieOf(app, "ada"))).toBe(3);
    expect(await statuses(2, await cookieOf(app, "bob"))).toBe(2);
    expect(await statuses(3, await cookieOf(app, "eve"))).toBe(3);
  });
});

describe("the calls with a bearer token", () => {
  const authenticate = vi.fn(async (token: string) => (token.startsWith("user-") ? { sub: token } : null));
  const withToken = (app: App, token: string, path = "/__web/rpc/who") => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    return app
      .fetch(new Request(`http://shop.example${path}`, { method: "POST", headers, body: '{"args":{}}' }), {
        address: OFFICE,
      })
      .then(({ status }) => status);
  };
  const countOf = async (count: number, send: () => Promise<number>, status = 200) => {
    let sum = 0;
    for (let sent = 0; sent < count; sent++) if ((await send()) === status) sum++;
    return sum;
  };

  it("of one that sends too many do not use up those of its address, and its token is not checked for them [REQUEST-109]", async () => {
    const app = createApp({ authenticate });
    authenticate.mockClear();
    expect(await countOf(100, () => withToken(app, "user-1"))).toBe(3);
    expect(authenticate).toHaveBeenCalledTimes(3);
    expect(await countOf(9, () => withToken(app, "user-2"))).toBe(3);
    expect(await accepted(app, 9, { cookie: await cookieOf(app, "bob") })).toBe(2); // eight in all
  });

  it("with any number of forged tokens are checked as often as the address allows, and give no call to a signed-out client", async () => {
    const app = createApp({ authenticate });
    authenticate.mockClear();
    let token = 0;
    expect(await countOf(50, () => withToken(app, `forged-${++token}`), 401)).toBe(3);
    expect(authenticate).toHaveBeenCalledTimes(8);
  });

  it("with any number of forged tokens use up no calls of the users of the address", async () => {
    const app = createApp({ authenticate });
    const bob = await cookieOf(app, "bob");
    for (let token = 0; token < 50; token++) await withToken(app, `forged-${token}`);
    expect(await accepted(app, 9, { cookie: bob })).toBe(3);
  });

  it("of a route count for the address only", async () => {
    const hook = compiledRoute("POST /hook", () => new Response("ok"));
    const app = createTestApp({ ...module, hook }, { rate: RATE, authenticate });
    expect(await countOf(9, () => withToken(app, "user-1", "/hook"))).toBe(8);
  });
});

describe("a client with a cookie that is not valid", () => {
  it.each([
    ["of a forged signature", async (app: App) => forge(await cookieOf(app, "ada"))],
    ["of another secret", async () => cookieOf(createTestApp(module, { env: OTHER_SECRET }), "ada")],
    ["of nothing", async () => "web_session=x"],
    ["that was revoked", revokedCookie],
    ["that has expired", expiredCookie],
  ])("counts as signed out, with one %s [REQUEST-98]", async (_, cookieFor) => {
    const app = createApp({ rate: { ...RATE, per_address: 100 } });
    const cookie = await cookieFor(app);
    expect(await accepted(app, 2)).toBe(2);
    expect(await accepted(app, 9, { cookie })).toBe(1);
    expect(await accepted(app, 9)).toBe(0);
    expect(await accepted(app, 9, { cookie: await cookieOf(app, "ada") }), "the user").toBe(3);
  });

  it("has no more calls with any number of them [REQUEST-105]", async () => {
    const app = createApp({ rate: { ...RATE, per_address: 100 } });
    const valid = await cookieOf(app, "ada");
    let sum = 0;
    for (let forged = 0; forged < 50; forged++) {
      const token = `web_session=${valid.slice("web_session=".length, -8)}${String(forged).padStart(8, "0")}`;
      sum += await accepted(app, 2, { cookie: token });
    }
    expect(sum).toBe(3);
  });
});

describe("a client that signs in and out", () => {
  it("gets no new calls by that, neither for its address nor for its user [REQUEST-99]", async () => {
    const app = createApp({ rate: { ...RATE, per_address: 100 } });
    let [signIns, calls, signOuts] = [0, 0, 0];
    for (let round = 0; round < 20; round++) {
      const client = visitor(app, { address: OFFICE }); // without the cookies of the round before
      await client.rpc("sign_in", { user: "ada" }).then(() => signIns++, expectRateLimited);
      await client.rpc("who").then(() => calls++, expectRateLimited);
      await client.rpc("sign_out").then(() => signOuts++, expectRateLimited);
    }
    // Three of the address, before a sign-in, and three of the user.
    expect(signIns + calls + signOuts).toBe(6);
    expect(await call(app)).toBe(429);
    expect(await call(app, { cookie: await cookieOf(app, "ada") })).toBe(429);
  });

  it("has as many calls per user as anyone, and all users together those of the address [REQUEST-106]", async () => {
    const app = createApp();
    let sum = 0;
    for (let user = 0; user < 20; user++)
      sum += await accepted(app, 9, { cookie: await cookieOf(app, `user ${user}`) });
    expect(sum).toBe(8);
  });
});

describe("a change of the clock", () => {
  it("changes no count: calls are counted by a clock that only goes forward [REQUEST-107]", async () => {
    const app = createApp({ rate: { ...RATE, per_address: 100 } });
    const ada = await cookieOf(app, "ada");
    const start = Date.now();
    expect([await accepted(app, 9), await accepted(app, 9, { cookie: ada })]).toEqual([3, 3]);
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    for (const ms of [-3_600_000, -1, 60_000, 3_600_000]) {
      vi.setSystemTime(start + ms);
      expect([await accepted(app, 9), await accepted(app, 9, { cookie: ada })], `${ms} ms`).toEqual([0, 0]);
    }
  });
});

describe("the message of a refused call", () => {
  it("names the wait; the log also names the limit", async () => {
    const app = createApp();
    const ada = await cookieOf(app, "ada");
    await accepted(app, 4, { cookie: ada });
    expect(logged.flat().join("\n")).toContain("The limit is 3 calls in 60 seconds for one user.");
  });
});

describe("the option rate of new App", () => {
  it.each([
    [true, TypeError],
    [{ calls: 3 }, RangeError],
    [{ calls: 3, seconds: 60, perAddress: 9 }, TypeError],
    [{ calls: 3, seconds: 60, per_address: 2 }, RangeError],
    [{ calls: 3, seconds: 60, per_address: 3.5 }, RangeError],
  ])("is refused if it is %j", (rate, type) => {
    expect(() => createApp({ rate: rate as never })).toThrow(type);
  });

  it("names the option, the value and what is valid", () => {
    const rateOf = (rate: object) => () => createApp({ rate: rate as never });
    expect(rateOf({ calls: 3, seconds: 60, per_address: 2 })).toThrow(
      "Invalid option rate.per_address in new App: 2. Use a whole number from 3.",
    );
    expect(rateOf({ calls: 3, seconds: 60, perAddress: 9 })).toThrow(
      "Unknown option perAddress in rate of new App. Valid options: calls, seconds, per_address.",
    );
  });
});

const OTHER_SECRET = { WEB_AUTH_SECRET: "6b".repeat(32) };

/** Changes the last characters of the signature. */
const forge = (cookie: string) => `${cookie.slice(0, -3)}abc`;

async function revokedCookie(app: App): Promise<string> {
  const signedIn = visitor(app, { address: "203.0.113.1" });
  await signedIn.rpc("sign_in", { user: "mallory" });
  const cookie = cookieHeader(signedIn);
  await signedIn.rpc("sign_out_everywhere");
  return cookie;
}

async function expiredCookie(app: App): Promise<string> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const cookie = await cookieOf(app, "ada");
  vi.setSystemTime(Date.now() + (session.max_age + 1) * 1000);
  return cookie;
}

function expectRateLimited(error: unknown): void {
  expect(error).toMatchObject({ code: "rate_limited" });
}
