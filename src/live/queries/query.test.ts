import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  callOverHttp,
  compiledPage,
  compiledQuery,
  compiledRoute,
  compiledServer,
  createTestApp,
  getPage,
} from "#test/compiled-app";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { signInCookie, testConfig } from "#test/request-context";
import type { App } from "../../app.ts";
import { request } from "../../http/index.ts";
import { MAX_QUERY_TOKEN_CHARS } from "../../protocol/index.ts";
import { keysFor, session } from "../../session/index.ts";
import { createRealtime } from "../app-registry.ts";
import { type QueryOptions, query } from "./query.ts";
import { queryId, verifyQuery } from "./query-token.ts";

const read = vi.fn<(board: string, limit?: number, text?: string) => unknown>();
const cards = compiledQuery(
  "cards",
  { on: (board: string) => [`board:${board}`, "boards", `board:${board}`] },
  (board: string, limit?: number, text?: string) => read(board, limit, text),
  {
    params: { board: "any", limit: { type: "int", optional: true }, text: { type: "any", optional: true } },
    hash: "a1B2c3",
  },
);
const mine = compiledQuery("mine", { on: ["mine"], auth_required: true, key: "uuid" }, () => [{ uuid: 1 }]);
/** Calls `live` with any arguments. */
const liveOf = (target: { live: unknown }, args: readonly unknown[]): Promise<unknown> =>
  Reflect.apply(target.live as (...args: unknown[]) => Promise<unknown>, target, args);

const module_ = {
  cards,
  mine,
  handle: compiledServer("handle", (args: unknown[]) => liveOf(cards, args), { params: { args: "any" } }),
  handle_mine: compiledServer("handle_mine", () => mine.live()),
  count: compiledServer("count", async (board: string) => ((await cards(board)) as unknown[]).length, {
    params: { board: "any" },
  }),
  call_mine: compiledServer("call_mine", () => mine()),
  sign_in: compiledServer("sign_in", () => session.login("alice")),
  page: compiledPage("/boards/:id", async ({ id }) => JSON.stringify(await cards.live(id))),
  page_without_limit: compiledPage("/without-limit", async () =>
    JSON.stringify(await cards.live("1", undefined, "text")),
  ),
  form_handle: compiledServer("form_handle", async () => void (await cards.live("form"))),
  route: compiledRoute("GET /cards", async () => Response.json(await cards.live("1"))),
};
const errors = {
  try_handle: compiledServer("try_handle", (args: unknown[]) => liveOf(cards, args).then(() => "no error", String), {
    params: { args: "any" },
  }),
};

let bus: FaultyBus;
let app: App;
beforeEach(() => {
  bus = createFaultyBus();
  createRealtime({ isBuilt: false }).use_bus(bus);
  app = createTestApp({ ...module_, ...errors }, { rate: false });
  read.mockReset().mockReturnValue([{ id: 1, at: new Date(0) }]);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await app.close();
});

async function result(name: string, args: unknown = {}, cookie?: string): Promise<never> {
  const response = await callOverHttp(app, name, args, cookie === undefined ? {} : { headers: { cookie } });
  return (await response.json()).result as never; // the tests know its type
}

/** Submits a form of a function, as a browser without scripts does. */
function postForm(name: string): Promise<Response> {
  const headers = { origin: "http://shop.example" };
  return getPage(app, `/__web/form/${name}`, { method: "POST", headers, body: new URLSearchParams() });
}

const tryHandle = (...args: unknown[]): Promise<string> => result("try_handle", { args });

describe("live of a query", () => {
  it("returns a token, an id, the value as it arrives in the browser, and its version", async () => {
    const handle: Record<string, string> = await result("handle", { args: ["1"] });
    expect(handle).toEqual({
      query: expect.any(String),
      id: expect.stringMatching(/^[\w-]{16}$/),
      value: [{ id: 1, at: "1970-01-01T00:00:00.000Z" }],
      v: expect.any(String),
    });
    const keys = keysFor(testConfig(), "query");
    const now = Math.floor(Date.now() / 1000);
    const verified = verifyQuery(handle.query, { sid: null, now }, keys);
    expect(verified).toMatchObject({
      name: "cards",
      hash: "a1B2c3",
      channels: ["board:1", "boards"],
      argsText: '{"board":"1"}',
      tag: null,
    });
    expect(verified && queryId(verified)).toBe(handle.id);
    expect((verified?.expiresAt ?? 0) - now).toBeGreaterThanOrEqual(24 * 60 * 60 - 1);
  });

  it("reads the positions of all channels in one turn, before the query runs", async () => {
    const order: unknown[] = [];
    const position = bus.position.bind(bus);
    bus.position = async (channels) => {
      order.push([...channels]);
      return position(channels);
    };
    read.mockImplementation(() => order.push("run"));
    await result("handle", { args: ["1"] });
    expect(order).toEqual([["board:1", "boards"], "run"]);
  });

  it("works in a page, a route, a form and a server function", async () => {
    const page = await (await getPage(app, "/boards/7")).text();
    expect(page).toContain("1970-01-01T00:00:00.000Z");
    const route = await (await getPage(app, "/cards")).json();
    expect(route).toMatchObject({ value: [{ id: 1 }] });
    expect(await result("handle", { args: ["1"] })).toMatchObject({ id: route.id, value: route.value });
    expect((await postForm("form_handle")).status).toBe(200);
    expect(read).toHaveBeenCalledWith("form", undefined, undefined);
  });

  it("throws outside a request", async () => {
    await expect(cards.live("1")).rejects.toThrow(/^cards\.live\(\) was used outside a request/);
  });

  it("names the option `key` if it is not id", async () => {
    const cookie = (await callOverHttp(app, "sign_in")).headers.getSetCookie()[0]?.split(";")[0];
    expect(await result("handle_mine", {}, cookie)).toMatchObject({ key: "uuid" });
    expect(await result("handle", { args: ["1"] })).not.toHaveProperty("key");
  });

  it("rejects a signed-out client if the query has auth_required, and binds the token to the sign-in [QUERY-6]", async () => {
    const refused = await callOverHttp(app, "handle_mine");
    expect([refused.status, (await refused.json()).error.code]).toEqual([401, "unauthenticated"]);
    const cookie = (await callOverHttp(app, "sign_in")).headers.getSetCookie()[0]?.split(";")[0];
    const handle: Record<string, string> = await result("handle_mine", {}, cookie);
    const presenter = { sid: null, now: Date.now() / 1000 };
    expect(verifyQuery(handle.query, presenter, keysFor(testConfig(), "query"))).toMatchObject({ expired: true });
  });

  it("has one id for arguments that are equal as JSON, whatever the order of their keys", async () => {
    const args = [[{ a: 1, b: { c: [1], d: null } }], [{ b: { d: null, c: [1] }, a: 1, e: undefined }]];
    const handles: { id: string }[] = await Promise.all(args.map((each) => result("handle", { args: each })));
    expect(handles[1]?.id).toBe(handles[0]?.id);
    const ids = await Promise.all(
      [["1"], ["2"], ["1", 5]].map(async (each) => ((await result("handle", { args: each })) as { id: string }).id),
    );
    expect(new Set(ids).size).toBe(3);
  });

  it("passes what the query throws on to the caller", async () => {
    read.mockImplementation(() => {
      throw new Error("no database");
    });
    expect((await callOverHttp(app, "handle", { args: ["1"] })).status).toBe(500);
    expect(await tryHandle("1")).toBe("Error: no database");
  });

  it("fails with 503 while the bus is unreachable, without running the query", async () => {
    bus.position = () => Promise.reject(new Error("unreachable"));
    expect((await callOverHttp(app, "handle", { args: ["1"] })).status).toBe(503);
    expect(read).not.toHaveBeenCalled();
  });

  it("accepts a token of the maximum length, and throws above it", async () => {
    const lengths: number[] = [];
    for (let size = 600; lengths.length === 0; size++) {
      const outcome = await tryHandle("1", 1, "x".repeat(size));
      const [, length] = /the token would have (\d+) characters; the maximum is 1024\. .* Pass ids/.exec(outcome) ?? [];
      if (length !== undefined) lengths.push(Number(length));
      else expect(outcome).toBe("no error");
    }
    expect(lengths[0]).toBeGreaterThan(MAX_QUERY_TOKEN_CHARS);
    expect(lengths[0]).toBeLessThan(MAX_QUERY_TOKEN_CHARS + 4); // so the one before was as long as possible
  });
});

describe("the arguments of live", () => {
  it.each([
    [["1", 2, "", 4], "TypeError: cards.live: 4 arguments were passed; cards takes at most 3."],
    [[], "TypeError: cards.live: board is missing: cards(board, limit?, text?)."],
    [["1", "many"], 'TypeError: cards.live: limit: expected int, got "many"'],
  ])("%j is rejected", async (args, message) => {
    expect(await tryHandle(...args)).toBe(message);
  });

  it("may leave out optional ones, in the middle too", async () => {
    await getPage(app, "/without-limit");
    expect(read).toHaveBeenCalledWith("1", undefined, "text");
  });
});

describe("a call of a query on the server", () => {
  it("is the call of the function, in the request of its caller", async () => {
    read.mockReturnValue([1, 2, 3]);
    expect(await result("count", { board: "9" })).toBe(3);
    expect(read).toHaveBeenCalledWith("9", undefined, undefined);
  });

  it("throws unauthenticated for a signed-out client if the query has auth_required", async () => {
    expect((await callOverHttp(app, "call_mine")).status).toBe(401);
  });
});

describe("the first run, while a page is rendered", () => {
  const path = compiledQuery("path", { on: ["a"] }, () => request.path);
  const name = compiledQuery("name", { on: ["a"] }, () => session.user()?.sub ?? "nobody");
  const page = compiledPage("/", async () => {
    const error = await path.live().catch(String);
    return JSON.stringify([error, (await name.live()).value]);
  });

  it("is one outside every request already, and one for the sign-in of the page if it reads the session", async () => {
    const visits: string[] = [];
    const before = ({ path: visited }: { readonly path: string }) => void visits.push(visited);
    const other = createTestApp({ path, name, page }, { before, rate: false });
    const html = await (await getPage(other, "/")).text();
    expect(html).toContain("Error: request.path was used in the query path");
    expect(html).toContain("nobody");
    const cookie = signInCookie("alice");
    expect(await (await getPage(other, "/", { headers: { cookie } })).text()).toContain("alice");
    expect(visits).toEqual(["/", "/"]); // `before` runs for the pages only
    await other.close();
  });
});

describe("a query in an application", () => {
  it("has no address: a call is answered as one of an unknown function [QUERY-7]", async () => {
    const call = await callOverHttp(app, "cards", { board: "1" });
    const unknown = await callOverHttp(app, "no_such_function", { board: "1" });
    expect([call.status, await call.text()]).toEqual([unknown.status, await unknown.text()]);
    expect([call.status, read.mock.calls]).toEqual([404, []]);
    expect((await postForm("cards")).status).toBe(404);
    expect(app.functions).not.toContain("cards");
  });

  it("rejects two of one name, also a query and a server function", () => {
    const other = compiledQuery("cards", { on: ["a"] }, () => 1);
    expect(() => createTestApp({ cards }, { modules: [{ cards }, { cards: other }] })).toThrow(
      "new App: two queries are named cards, in src/cards.server.ts:1 and in src/cards.server.ts:1. Rename one of them.",
    );
    const fn = compiledServer("cards", () => 1);
    expect(() => createTestApp({}, { modules: [{ cards }, { cards: fn }] })).toThrow(
      "new App: a query and a server function are named cards",
    );
  });

  it("rejects a query that is exported under another name", () => {
    expect(() => createTestApp({ tickets: cards })).toThrow(
      "the query cards of src/cards.server.ts is exported as tickets",
    );
  });

  it("may be all that a module serves", () => {
    expect(() => createTestApp({ cards })).not.toThrow();
  });
});

describe("the options of query()", () => {
  const options = (value: unknown) => () => compiledQuery("cards", value as QueryOptions, () => 1);

  it.each([
    [
      { on: ["a"], rate: 1 },
      "Unknown option rate in query() of cards in src/cards.server.ts. Valid options: on, auth_required",
    ],
    [{}, "on must be a list of channels, or a function that returns one"],
    [{ on: "a" }, "Received: a value of type string"],
    [{ on: null }, "Received: null"],
    [{ on: [""] }, "on: the name of a channel must not be empty"],
    [{ on: [1] }, "on: the name of a channel must be a string"],
    [{ on: ["a"], auth_required: 1 }, "auth_required is 1. It must be true or false."],
    [{ on: ["a"], rpc_timeout: 0 }, "rpc_timeout is 0. It must be a number of seconds above 0"],
    [{ on: ["a"], key: "" }, 'key is "". It must be the name of a member'],
    [{ on: ["a"], key: 5 }, "key is 5. It must be the name of a member"],
  ])("%j is rejected", (value, message) => {
    expect(options(value)).toThrow(message);
  });

  it.each([
    { count: 0, accepted: false },
    { count: 1, accepted: true },
    { count: 15, accepted: true },
    { count: 16, accepted: true },
    { count: 17, accepted: false },
  ])("accepts $count channels: $accepted", ({ count, accepted }) => {
    const on = Array.from({ length: count }, (_, at) => `c${at}`);
    if (accepted)
      expect(options({ on: [...on, ...on] })).not.toThrow(); // equal names count once
    else expect(options({ on })).toThrow(`names ${count} channels; it must be 1 to 16`);
  });

  it("rejects what `on` returns when live is called", async () => {
    const bad = (on: unknown) => compiledQuery("bad", { on: on as never }, () => 1, { params: {} });
    const functions = {
      promise: compiledServer("promise", () => bad(async () => ["a"]).live()),
      none: compiledServer("none", () => bad(() => []).live()),
    };
    const other = createTestApp({ ...functions });
    for (const [name, message] of [
      ["promise", "on of bad must be a list of channels, or a function that returns one, without a promise"],
    ]) {
      const response = await callOverHttp(other, name ?? "");
      expect((await response.json()).error.message).toContain(message);
    }
    expect((await callOverHttp(other, "none")).status).toBe(500);
    await other.close();
  });

  it("rejects a module that was not compiled", () => {
    expect(() => query({ on: ["a"] }, () => 1)).toThrow("query() was called in a module that tsweb has not compiled");
  });
});
