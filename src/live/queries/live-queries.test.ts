import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledQuery, compiledServer, createTestApp } from "#test/compiled-app";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { liveFunctions } from "#test/live-client";
import { QueryClient } from "#test/query-client";
import type { App } from "../../app.ts";
import { RPCError } from "../../errors.ts";
import type { LiveHandle } from "../../protocol/index.ts";
import { session } from "../../session/index.ts";
import { createRealtime } from "../app-registry.ts";

const read = vi.fn<(board: string) => unknown>();
const cards = compiledQuery("cards", { on: (board: string) => [`board:${board}`] }, (board: string) => read(board), {
  params: { board: "any" },
  hash: "a1B2c3",
});
const mine = compiledQuery(
  "mine",
  { on: ["mine"] },
  () => ({ user: session.user()?.sub ?? null, read: read("mine") }),
  {
    hash: "a1B2c3",
  },
);
const secret = compiledQuery("secret", { on: ["secret"], auth_required: true }, () => read("secret"), {
  hash: "a1B2c3",
});
const functions = {
  ...liveFunctions,
  ...{ cards, mine, secret },
  show: compiledServer("show", (board: string) => cards.live(board), { params: { board: "any" } }),
  show_mine: compiledServer("show_mine", () => mine.live()),
  show_secret: compiledServer("show_secret", () => secret.live()),
  end: compiledServer("end", () => session.revoke(session.require().sub)),
};

const rowsOf = (...titles: readonly string[]) =>
  titles.map((title, id) => ({ id, title, text: "The text of a card".repeat(3) }));

let bus: FaultyBus;
let app: App;
const clients: QueryClient[] = [];

beforeEach(() => {
  bus = createFaultyBus();
  createRealtime({ isBuilt: false }).use_bus(bus);
  app = createTestApp(functions, { rate: false });
  read.mockReset().mockReturnValue(rowsOf("a", "b", "c"));
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await app.close();
  vi.restoreAllMocks();
});

const send = (path: string, init: RequestInit) => app.fetch(new Request(`http://shop.example${path}`, init));

/** Calls a function, and returns its result. */
async function call(name: string, args: object = {}, headers: Readonly<Record<string, string>> = {}) {
  const response = await callOverHttp(app, name, args, { headers });
  const { result, error } = await response.json();
  if (error) throw new Error(`${error.code}: ${error.message}`);
  return { result, response };
}

/** Signs a user in, and returns the headers of the browser. */
async function signIn(user: string): Promise<Record<string, string>> {
  const { response } = await call("enter", { user });
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  return { cookie: cookies.join("; ") };
}

const handleOf = async (name = "show", args: object = { board: "1" }, headers: Record<string, string> = {}) =>
  (await call(name, args, headers)).result as LiveHandle;

function clientOf(handles: readonly LiveHandle[], headers: Record<string, string> = {}): QueryClient {
  const client = new QueryClient(send, handles, headers);
  clients.push(client);
  return client;
}

describe("a request with queries", () => {
  it.each([
    [255, 403, "A query was not issued by this application. Load the page again.\n"],
    [256, 403, "A query was not issued by this application. Load the page again.\n"],
    [257, 400, "The request has 257 queries; the maximum of POST is 256.\n"],
  ])("that has %i of them", async (count, status, text) => {
    for (const path of ["/__web/live", "/__web/poll"]) {
      const response = await send(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ queries: Array.from({ length: count }, String) }),
      });
      expect([response.status, await response.text()]).toEqual([status, text]);
    }
  });
});

describe("an event stream with a query", () => {
  it("sends nothing for the value that the page has, and the changes after that", async () => {
    const client = clientOf([await handleOf()]);
    await client.open();
    read.mockReturnValue(rowsOf("a", "changed", "c"));
    await app.publish("board:1", null);
    await expect.poll(() => client.first.value).toEqual(rowsOf("a", "changed", "c"));
    expect(client.first.frames).toEqual([
      { v: expect.any(String), base: expect.any(String), patch: [[0, 1], rowsOf("a", "changed")[1], [2, 3]] },
    ]);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it("runs once for all pages, and sends only the version if the value has not changed", async () => {
    const handle = await handleOf();
    const pages = [clientOf([handle]), clientOf([await handleOf()]), clientOf([handle])];
    await Promise.all(pages.map((page) => page.open()));
    await app.publish("board:1", null);
    await expect.poll(() => pages.map(({ first }) => first.frames.length)).toEqual([1, 1, 1]);
    expect(pages.map(({ first }) => Object.keys(first.frames[0] ?? {}))).toEqual([["v"], ["v"], ["v"]]);
    expect(read).toHaveBeenCalledTimes(3); // twice for pages, once for the message
  });

  it("sends the whole value to a page that has missed a change, or has no version", async () => {
    const handle = await handleOf();
    const client = clientOf([handle]);
    read.mockReturnValue(rowsOf("new"));
    await app.publish("board:1", null);
    await client.open();
    await expect.poll(() => client.first.value).toEqual(rowsOf("new"));
    client.first.version = undefined;
    client.first.value = undefined;
    await client.open();
    await expect.poll(() => client.first.value).toEqual(rowsOf("new"));
  });
});

describe("a query that reads the session", () => {
  it("has a value for each sign-in, also if it has read the session for the first time", async () => {
    const [alice, bob] = [await signIn("alice"), await signIn("bob")];
    const pages = [
      clientOf([await handleOf("show_mine", {}, alice)], alice),
      clientOf([await handleOf("show_mine", {}, bob)], bob),
      clientOf([await handleOf("show_mine", {})]),
    ];
    await Promise.all(pages.map((page) => page.open()));
    read.mockReturnValue("changed");
    await app.publish("mine", null);
    const changedOf = (user: string | null) => ({ user, read: "changed" });
    const values = () => pages.map(({ first }) => first.value);
    await expect.poll(values).toEqual([changedOf("alice"), changedOf("bob"), changedOf(null)]);
  });
});

describe("a query that decides who may see its value", () => {
  it("takes the value away with forbidden, and gives it back", async () => {
    const client = clientOf([await handleOf()]);
    await client.open();
    read.mockImplementation(() => {
      throw new RPCError("forbidden", "Not your board.");
    });
    await app.publish("board:1", null);
    await expect.poll(() => client.first).toMatchObject({ value: undefined, error: "forbidden" });
    read.mockReset().mockReturnValue(rowsOf("back"));
    await app.publish("board:1", null);
    await expect.poll(() => client.first).toMatchObject({ value: rowsOf("back"), error: null });
  });

  it("sends no value to a signed-out client with auth_required", async () => {
    await expect(handleOf("show_secret", {})).rejects.toThrow("unauthenticated");
    const alice = await signIn("alice");
    const client = clientOf([await handleOf("show_secret", {}, alice)], alice);
    await client.open();
    read.mockReturnValue("changed");
    await app.publish("secret", null);
    await expect.poll(() => client.first.value).toBe("changed");
  });
});

describe("a poll with a query", () => {
  it("returns nothing for the value that the page has, and the last one after a change", async () => {
    const client = clientOf([await handleOf()]);
    await client.poll();
    expect(client.first.frames).toEqual([]);
    read.mockReturnValue(rowsOf("a", "changed", "c"));
    bus.suppressesNotifications = true; // the message is on its way
    await app.publish("board:1", null);
    await client.poll();
    expect(client.first.value).toEqual(rowsOf("a", "changed", "c"));
    expect(read).toHaveBeenCalledTimes(2);
  });

  it("waits for a change", async () => {
    const client = clientOf([await handleOf()]);
    const polling = client.poll(25);
    await expect.poll(() => bus.listenerCounts.get("board:1")).toBe(1);
    read.mockReturnValue(rowsOf("changed"));
    await app.publish("board:1", null);
    await polling;
    expect(client.first.value).toEqual(rowsOf("changed"));
  });

  it("has 128 KiB of frames at most, and at least one; the rest is in the next ones", async () => {
    read.mockReturnValue("x".repeat(100 * 1024));
    const client = clientOf(await Promise.all(["1", "2", "3", "4"].map((board) => handleOf("show", { board }))));
    for (const query of client.queries.values()) query.version = undefined;
    const framesOf = () => [...client.queries.values()].map(({ frames }) => frames.length).sort();
    expect(await client.poll()).toBe(true);
    expect(framesOf()).toEqual([0, 0, 1, 1]);
    expect(await client.poll()).toBe(false);
    expect(framesOf()).toEqual([1, 1, 1, 1]);
  });

  it("gets 503 while the bus cannot be read", async () => {
    const client = clientOf([await handleOf()]);
    bus.isUnreachable = true;
    const headers = { "content-type": "application/json" };
    const response = await send("/__web/poll", { method: "POST", headers, body: JSON.stringify(client.body) });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  });
});

describe("a query of a signed-in user", () => {
  it("ends with the sign-out, and the event stream with a revocation", async () => {
    const alice = await signIn("alice");
    const [signedOut, revoked] = [
      clientOf([await handleOf("show_mine", {}, alice)], alice),
      clientOf([await handleOf("show_mine", {}, alice)], alice),
    ];
    await signedOut.open();
    await call("leave", {}, alice);
    await expect.poll(() => signedOut.first.frames).toEqual([{ ended: signedOut.first.token }]);
    await revoked.open();
    await call("end", {}, alice);
    await revoked.done;
    read.mockReturnValue("changed");
    await app.publish("mine", null);
    await revoked.open();
    await expect.poll(() => revoked.first.frames).toEqual([{ ended: revoked.first.token }]);
  });

  it("is not one of another user, whose request has the token", async () => {
    const [alice, bob] = [await signIn("alice"), await signIn("bob")];
    const handle = await handleOf("show_mine", {}, alice);
    const clients = [clientOf([handle], bob), clientOf([handle])];
    await Promise.all(clients.map((client) => client.open()));
    await app.publish("mine", null);
    for (const { first } of clients) {
      await expect.poll(() => first.frames).toEqual([{ ended: handle.query }]);
    }
  });
});

it("pages with tokens of their own share a query, as long as one token is valid", async () => {
  const alice = await signIn("alice");
  const [own, other] = [await handleOf("show", { board: "1" }, alice), await handleOf()];
  const response = await send("/__web/poll", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ queries: [`${own.query}~${own.v}`, other.query] }),
  });
  // The first token is of a sign-in that the request has not.
  expect((await response.json()).query).toEqual([
    [own.id, { ended: own.query }],
    [own.id, { v: expect.any(String), value: own.value }],
  ]);
});
