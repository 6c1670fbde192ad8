import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { call, closePresenceApps, createPresenceApp, loadPage, open, send, sendTo, signIn } from "#test/presence-pages";
import type { App } from "../app.ts";

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(async () => {
  await closePresenceApps();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("POST /__web/presence", () => {
  const openPage = async (app: App, user = "alice") => {
    const headers = await signIn(app, user);
    const { token } = await loadPage(app, headers);
    const { client } = await open(app, [token], headers);
    await expect.poll(() => client.users).toContain(user);
    return { headers, token, client };
  };

  it("sets the state of a page, which all pages see", async () => {
    const app = createPresenceApp();
    const { headers, token, client } = await openPage(app);
    const response = await send(app, { token, state: { typing: true } }, headers);
    expect(response.status).toBe(204);
    await expect.poll(() => client.people[0]?.state).toEqual({ typing: true });
    await send(app, { token: `${token}~${client.version}`, state: null }, headers);
    await expect.poll(() => client.people[0]?.state).toBeNull();
  });

  it.each([
    { bytes: 1_023, status: 204 },
    { bytes: 1_024, status: 204 },
    { bytes: 1_025, status: 413 },
  ])("answers a state of $bytes bytes with $status", async ({ bytes, status }) => {
    const app = createPresenceApp();
    const { headers, token } = await openPage(app);
    expect((await send(app, { token, state: "x".repeat(bytes - 2) }, headers)).status).toBe(status);
  });

  it("refuses a state that nests so deep that pages with it among their props could not be sent", async () => {
    const app = createPresenceApp();
    const { headers, token, client } = await openPage(app);
    const stateOf = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels));
    expect((await send(app, { token, state: stateOf(65) }, headers)).status).toBe(400);
    expect((await send(app, { token, state: { a: stateOf(64) } }, headers)).status).toBe(400);
    expect((await send(app, { token, state: stateOf(64) }, headers)).status).toBe(204);
    await expect.poll(() => client.people[0]?.state).not.toBeNull();
    expect((await loadPage(app, headers)).list).toHaveLength(1);
  });

  it("accepts ten states of one page in a second, and those of other pages [PRESENCE-10]", async () => {
    const app = createPresenceApp();
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const [alice, bob] = [await openPage(app), await openPage(app, "bob")];
    const statuses: number[] = [];
    for (let state = 0; state < 11; state++) {
      statuses.push((await send(app, { token: alice.token, state }, alice.headers)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 204), 429]);
    expect((await send(app, { token: bob.token, state: 1 }, bob.headers)).status).toBe(204);
  });

  it("does not count towards the rates of calls and of live requests", async () => {
    const app = createPresenceApp();
    const { headers, token } = await openPage(app);
    for (let at = 0; at < 700; at++) await send(app, { token, state: at }, headers);
    expect((await call(app, "people", { name: "board:1" }, headers)).result).toHaveLength(1);
    expect((await open(app, [token], headers)).response.status).toBe(200);
  });

  it("accepts 1,000 states of one user in 10 seconds, and those of others at the address [PRESENCE-11]", async () => {
    const app = createPresenceApp();
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const [alice, bob] = [await openPage(app), await openPage(app, "bob")];
    const anonymous = await loadPage(app, {}, { options: { anonymous: true } });
    vi.useFakeTimers({ toFake: ["Date", "performance"] }); // a busy machine needs more than 10 seconds
    for (const { token, headers } of [alice, { token: anonymous.token, headers: {} }]) {
      for (let at = 0; at < 999; at++) await send(app, { token, state: at }, headers);
    }
    const later = await loadPage(app, alice.headers);
    expect((await send(app, { token: later.token, state: 1 }, alice.headers)).status).toBe(202); // it is not present
    expect((await send(app, { token: later.token, state: 1 }, alice.headers)).status).toBe(429);
    expect((await send(app, { token: bob.token, state: 1 }, bob.headers)).status).toBe(204);
    for (const status of [202, 429]) {
      const { token } = await loadPage(app, {}, { options: { anonymous: true } });
      expect((await send(app, { token, state: 1 })).status).toBe(status);
    }
  });

  it("is limited to 5,000 requests of one address, before the body is read [PRESENCE-14]", async () => {
    const app = createPresenceApp();
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const sendText = async () => (await send(app, "", { "content-type": "text/plain" })).status;
    for (let at = 0; at < 5_000; at++) if ((await sendText()) !== 415) throw new Error(`Request ${at} was refused.`);
    expect(await sendText()).toBe(429);
  }, 30_000);

  it.each([
    ["", 400, "The body must be an object"],
    [[], 400, "The body must be an object"],
    [{}, 400, "token must be a string."],
    [{ token: 1, state: 1 }, 400, "token must be a string."],
    [{ token: "x" }, 400, "The body has no state."],
    [{ token: "x", state: 1, left: false }, 400, "left must be true, or absent."],
    [{ token: "x", state: 1, other: 1 }, 400, 'The body has the unknown member "other".'],
    [{ token: "x", state: 1 }, 403, "The token was not issued by this application."],
    [{ token: "x", state: "x".repeat(20_000) }, 413, ""],
  ])("refuses the body %j with %i", async (body, status, message) => {
    const response = await send(createPresenceApp(), body);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(message);
  });

  it("refuses other methods, content types and origins [PRESENCE-8]", async () => {
    const app = createPresenceApp();
    const { headers, token } = await openPage(app);
    const body = { token, state: 1 };
    expect((await sendTo(app)("/__web/presence", { headers })).status).toBe(405);
    expect((await send(app, body, { ...headers, "content-type": "text/plain" })).status).toBe(415);
    for (const other of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
      expect((await send(app, body, { ...headers, ...other })).status).toBe(403);
    }
    expect((await send(app, body, { ...headers, origin: "http://shop.example" })).status).toBe(204);
  });

  it("sets nothing for a page that is not present, and refuses a token of another sign-in [PRESENCE-9]", async () => {
    const app = createPresenceApp();
    const { headers, token } = await openPage(app);
    const page = await loadPage(app, headers);
    expect((await send(app, { token: page.token, state: 1 }, headers)).status).toBe(202);
    for (const other of [await signIn(app, "bob"), {}]) {
      expect((await send(app, { token, state: 1 }, other)).status).toBe(403);
      expect((await send(app, { token, left: true }, other)).status).toBe(403);
    }
  });
});
