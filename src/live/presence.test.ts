import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp } from "#test/compiled-app";
import { type Here, postInit } from "#test/presence-client";
import { call, closePresenceApps, createPresenceApp, loadPage, open, send, sendTo, signIn } from "#test/presence-pages";
import { recordedLog } from "#test/recorded-log";
import type { App } from "../app.ts";
import { type Bus, memory } from "../backends/index.ts";
import { AppBus } from "./app-bus.ts";
import { presence, who } from "./index.ts";

/** Less than the time after which a page leaves whose event stream has ended, or that does not poll again. */
const AT_ONCE = { timeout: 10_000 } as const;

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(async () => {
  await closePresenceApps();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("presence", () => {
  it("shows who has an event stream with the token, and nobody who was only sent the page", async () => {
    const app = createPresenceApp();
    const [alice, bob] = [await signIn(app, "alice"), await signIn(app, "bob")];
    const page = await loadPage(app, alice, { data: { name: "Alice" } });
    expect(page).toMatchObject({ channel: "board:1", list: [], stale: false });
    expect((await loadPage(app, alice)).list).toEqual([]);
    const { client } = await open(app, [page.token], alice);
    const expected = [{ id: "u:alice", user: "alice", tabs: 1, data: { name: "Alice" }, state: null }];
    await expect.poll(() => client.people).toEqual(expected);
    expect((await call(app, "people", { name: "board:1" })).result).toEqual(expected);
    expect((await call(app, "people", { name: "board:2" })).result).toEqual([]);
    const other = await loadPage(app, bob, { data: { name: "Bob" } });
    expect(other.list).toEqual(expected);
    const { client: second } = await open(app, [other.token], bob);
    await expect.poll(() => client.users).toEqual(["alice", "bob"]);
    await expect.poll(() => second.users).toEqual(["alice", "bob"]);
    expect(client.mismatches + second.mismatches).toBe(0);
  });

  it("has one entry for each user, with the number of pages that are open", async () => {
    const app = createPresenceApp();
    const alice = await signIn(app, "alice");
    const tokens = [await loadPage(app, alice), await loadPage(app, alice), await loadPage(app, alice)].map(
      ({ token }) => token,
    );
    const { client } = await open(app, tokens.slice(0, 2), alice); // one connection for two tabs
    await expect.poll(() => client.users).toEqual(["alice*2"]);
    await open(app, tokens.slice(1), alice); // the second tab has two connections for a moment
    await expect.poll(() => client.users).toEqual(["alice*3"]);
  });

  it("shows at most 100 pages of a user, and of the signed-out clients of an address [PRESENCE-12]", async () => {
    const app = createPresenceApp();
    const alice = await signIn(app, "alice");
    for (const headers of [alice, {}]) {
      const tokens: string[] = [];
      for (let at = 0; at < 105; at++) {
        tokens.push((await loadPage(app, headers, { options: { anonymous: true } })).token);
      }
      await open(app, tokens, headers);
    }
    await vi.waitFor(async () => {
      const { result } = await call(app, "people", { name: "board:1" });
      expect(result).toHaveLength(101);
      expect(result.at(-1)).toMatchObject({ user: "alice", tabs: 100 });
    }, 30_000);
  });

  it("serves at most 1,000 pages of a user in all channels; further ones keep their list, stale [PRESENCE-13]", async () => {
    const app = createPresenceApp();
    const [alice, bob] = [await signIn(app, "alice"), await signIn(app, "bob")];
    const names = Array.from({ length: 1_002 }, (_, at) => `board:${at}`);
    const tokens: string[] = (await call(app, "tokens", { names }, alice)).result;
    for (let at = 0; at < 999; at += 250) await open(app, tokens.slice(at, Math.min(at + 250, 999)), alice);
    const isServed = async (token: string | undefined, at: number) => {
      const { client } = await open(app, [token ?? ""], alice);
      await expect.poll(() => client.frames).not.toEqual([]);
      const { result } = await call(app, "people", { name: `board:${at}` });
      expect(client.stale).toBe(result.length === 0);
      return result.length === 1;
    };
    expect(await isServed(tokens[999], 999)).toBe(true);
    expect(await isServed(tokens[1_000], 1_000)).toBe(false);
    expect(await isServed(tokens[0], 0)).toBe(true); // it has a place already
    const [token] = tokens.slice(1_001);
    const poll = await sendTo(app)("/__web/poll", postInit({ tokens: [token], wait: 0 }, alice));
    expect((await poll.json()).presence).toEqual([["board:1001", { stale: true }]]);
    // A page that says that it is left has its place as long as its connection is open.
    await send(app, { token: tokens[0], left: true }, alice);
    expect(await isServed(tokens[1_000], 1_000)).toBe(false);
    const page = await loadPage(app, bob, { name: "board:1000" });
    await open(app, [page.token], bob);
    await expect.poll(async () => (await call(app, "people", { name: "board:1000" })).result).toHaveLength(1);
  });

  it("rejects signed-out clients, unless they are allowed: then each page is an entry [PRESENCE-4]", async () => {
    const app = createPresenceApp();
    await expect(loadPage(app, {})).rejects.toThrow("unauthenticated: Please sign in.");
    await expect(loadPage(app, {}, { options: { anonymous: false } })).rejects.toThrow("unauthenticated");
    const options = { anonymous: true };
    const pages = [await loadPage(app, {}, { options }), await loadPage(app, {}, { options })];
    const { client } = await open(
      app,
      pages.map(({ token }) => token),
    );
    await expect.poll(() => client.users).toEqual(["null", "null"]);
    const alice = await signIn(app, "alice");
    await open(app, [(await loadPage(app, alice, { options })).token], alice);
    await expect.poll(() => client.users).toEqual(["null", "null", "alice"]);
  });

  it.each([
    { bytes: 1_023, isAccepted: true },
    { bytes: 1_024, isAccepted: true },
    { bytes: 1_025, isAccepted: false },
  ])("accepts data of $bytes bytes: $isAccepted", async ({ bytes, isAccepted }) => {
    const app = createPresenceApp();
    const alice = await signIn(app, "alice");
    const data = "ä".repeat((bytes - 3) / 2) + "x".repeat(1 + ((bytes - 3) % 2));
    const text = data.padEnd(data.length + bytes - 2 - Buffer.byteLength(data), "x");
    expect(Buffer.byteLength(JSON.stringify(text))).toBe(bytes);
    const page = loadPage(app, alice, { data: text });
    if (isAccepted) await page;
    else await expect(page).rejects.toThrow("internal");
  });

  it("gives all channels of one page load one id, and each page load another", async () => {
    const app = createPresenceApp();
    const alice = await signIn(app, "alice");
    const idOf = ({ token }: Here) => JSON.parse(Buffer.from(token, "base64url").toString().split("\n")[0] ?? "")[3];
    const [first, second] = [await loadPage(app, alice), await loadPage(app, alice)];
    expect(idOf(first)).toMatch(/^[\w-]{22}$/);
    expect(idOf(first)).not.toBe(idOf(second));
  });

  it("throws for an invalid name, an unknown option, and outside a request", async () => {
    await expect(presence("board:1")).rejects.toThrow("presence() was used outside a request");
    await expect(who("")).rejects.toThrow("who: the name of a channel must not be empty.");
    const app = createPresenceApp();
    const alice = await signIn(app, "alice");
    await expect(loadPage(app, alice, { name: "" })).rejects.toThrow(
      "presence: the name of a channel must not be empty.",
    );
    await expect(loadPage(app, alice, { options: { anonimous: true } })).rejects.toThrow("anonimous");
  });

  it("ends a token with the sign-in that it was issued to [PRESENCE-5]", async () => {
    const app = createPresenceApp();
    const [alice, bob] = [await signIn(app, "alice"), await signIn(app, "bob")];
    const { token } = await loadPage(app, alice);
    for (const headers of [bob, {}, await signIn(app, "alice")]) {
      const { client } = await open(app, [token], headers);
      await expect.poll(() => client.ended).toBe(true);
      expect((await call(app, "people", { name: "board:1" })).result).toEqual([]);
    }
  });

  it("rejects a token that was not issued by this application [PRESENCE-6]", async () => {
    const app = createPresenceApp();
    const alice = await signIn(app, "alice");
    const { token } = await loadPage(app, alice);
    const { response } = await open(app, [`${token}x`], alice);
    expect(response.status).toBe(403);
    expect(await response.text()).toBe("A presence token was not issued by this application. Load the page again.\n");
  });

  it("removes a revoked user at once, and a signed-out one [PRESENCE-7]", async () => {
    const app = createPresenceApp();
    const [alice, bob, carol] = [await signIn(app, "alice"), await signIn(app, "bob"), await signIn(app, "carol")];
    for (const headers of [alice, bob]) await open(app, [(await loadPage(app, headers)).token], headers);
    const { client } = await open(app, [(await loadPage(app, carol)).token], carol);
    await expect.poll(() => client.users).toEqual(["alice", "bob", "carol"]);
    await call(app, "end", {}, alice);
    await expect.poll(() => client.users, AT_ONCE).toEqual(["bob", "carol"]);
    await callOverHttp(app, "fail", {}, { headers: bob }); // the sign-out is discarded
    expect((await call(app, "people", { name: "board:1" })).result).toHaveLength(2);
    await call(app, "leave", {}, bob);
    await expect.poll(() => client.users, AT_ONCE).toEqual(["carol"]);
  });

  it("removes a page that says that it is left, at once", async () => {
    const app = createPresenceApp();
    const [alice, bob] = [await signIn(app, "alice"), await signIn(app, "bob")];
    const page = await loadPage(app, alice);
    const { client } = await open(app, [page.token], alice);
    await open(app, [(await loadPage(app, bob)).token], bob);
    await expect.poll(() => client.users).toEqual(["alice", "bob"]);
    expect((await send(app, { token: page.token, left: true }, alice)).status).toBe(204);
    await expect.poll(() => client.users, AT_ONCE).toEqual(["bob"]);
    await open(app, [page.token], alice); // restored from the back/forward cache
    await expect.poll(() => client.users).toEqual(["alice", "bob"]);
  });

  it("sends nothing to a client that has the list already", async () => {
    const app = createPresenceApp();
    const [alice, bob] = [await signIn(app, "alice"), await signIn(app, "bob")];
    const page = await loadPage(app, alice);
    const { client } = await open(app, [page.token], alice);
    await expect.poll(() => client.users).toEqual(["alice"]);
    const { client: again } = await open(app, [`${page.token}~${client.version}`], alice);
    await open(app, [(await loadPage(app, bob)).token], bob);
    await expect.poll(() => again.frames).toHaveLength(1);
    expect(again.frames[0]).toMatchObject({ from: client.frames.at(-2)?.v, set: [{ user: "bob" }] });
  });
});

describe("a poll with a token", () => {
  const poll = async (app: App, token: string, headers: Readonly<Record<string, string>>, wait = 0) => {
    const response = await sendTo(app)("/__web/poll", postInit({ tokens: [token], wait }, headers));
    return (await response.json()).presence as [string, { v: string; all: { user: string }[] }][];
  };

  it("returns the list unless the client has it, and waits for changes", async () => {
    const app = createPresenceApp();
    const [alice, bob] = [await signIn(app, "alice"), await signIn(app, "bob")];
    const { token } = await loadPage(app, alice);
    await poll(app, token, alice);
    const [[channel, frame] = ["", { v: "", all: [] }]] = await vi.waitFor(async () => {
      const frames = await poll(app, token, alice);
      expect(frames[0]?.[1].all).toHaveLength(1);
      return frames;
    }, 30_000);
    expect(channel).toBe("board:1");
    expect(await poll(app, `${token}~${frame.v}`, alice)).toEqual([]);
    const waiting = poll(app, `${token}~${frame.v}`, alice, 25);
    await open(app, [(await loadPage(app, bob)).token], bob);
    expect((await waiting)[0]?.[1].all.map(({ user }) => user)).toEqual(["alice", "bob"]);
  });

  it("leaves at once when its user is revoked between two polls", async () => {
    const app = createPresenceApp();
    const [alice, bob] = [await signIn(app, "alice"), await signIn(app, "bob")];
    const { token } = await loadPage(app, alice);
    await poll(app, token, alice);
    const { client } = await open(app, [(await loadPage(app, bob)).token], bob);
    await expect.poll(() => client.users).toEqual(["alice", "bob"]);
    await call(app, "end", {}, alice);
    await expect.poll(() => client.users, AT_ONCE).toEqual(["bob"]);
  });

  it("ends, and its page leaves, when the user is revoked", async () => {
    const app = createPresenceApp();
    const alice = await signIn(app, "alice");
    const { token } = await loadPage(app, alice);
    const [, frame] = await vi.waitFor(async () => {
      const [first] = await poll(app, token, alice);
      expect(first?.[1].all).toHaveLength(1);
      return first ?? ["", { v: "" }];
    }, 30_000);
    const waiting = poll(app, `${token}~${frame.v}`, alice, 25);
    await turn();
    await call(app, "end", {}, alice);
    await waiting;
    await expect.poll(async () => (await call(app, "people", { name: "board:1" })).result).toEqual([]);
  });
});

it("is an error on a bus of the application that does not store who is present", async () => {
  const { presence: _, ...bus } = memory();
  const publish = vi.fn().mockResolvedValue("p.1");
  const app = new AppBus({ busUrl: undefined, busNamespace: "", log: recordedLog().log, fingerprints: [] });
  app.set({ ...bus, publish } as Bus);
  expect(() => app.presence).toThrow(
    "presence: the bus that realtime.use_bus has installed does not store who is present. Implement the property presence of " +
      "Bus, or use redis(url) of tsweb/redis or nats(url) of tsweb/nats.",
  );
  await expect(app.signedOut("tag")).resolves.toBeUndefined();
  expect(publish).toHaveBeenCalledTimes(1); // for live queries
});

it("ends in every process after a sign-out, also if the bus did not respond when the user signed out", async () => {
  const bus = memory();
  const { log, lines } = recordedLog();
  const createAppBus = () => {
    const appBus = new AppBus({ busUrl: undefined, busNamespace: "", log, fingerprints: [] });
    appBus.set(bus);
    return appBus;
  };
  const [own, other] = [createAppBus(), createAppBus()];
  const member = { channel: "board:1", id: "page", user: "alice", data: "null", tag: "tag", issuedAt: 1, expiresAt: 2 };
  other.presence.hold({ ...member, expired: false }, { client: "u:alice", watchEnd: () => () => undefined });
  await expect.poll(() => own.presence.store.isEmpty("board:1")).toBe(false);

  vi.spyOn(bus, "publish").mockRejectedValueOnce(new Error("The bus did not store the message within 10 s."));
  await own.signedOut("tag");
  await expect.poll(() => own.presence.store.isEmpty("board:1")).toBe(true);
  expect(lines.map(({ message }) => message)).toEqual([expect.stringContaining("Presence is out of date")]);
  for (const appBus of [own, other]) await appBus.closePresence();
});
