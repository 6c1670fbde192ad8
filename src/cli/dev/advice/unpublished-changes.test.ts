/** A server function that changes what a live query returns, and publishes nothing: in an application of a development server. */
import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledQuery, compiledServer, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";
import { QueryClient } from "#test/query-client";
import type { App } from "../../../app.ts";
import { publish } from "../../../live/index.ts";
import { requireInternals } from "../../../server/index.ts";
import { ErrorLog } from "../../errors/index.ts";
import { UnpublishedChanges } from "./unpublished-changes.ts";

let cards: string[];
/** What the query returns; by default, the cards. */
let read: () => unknown;
let app: App;
let client: QueryClient;
let edits: EventEmitter;
let lines: string[];

const query = compiledQuery("cards", { on: ["board:1", "members:1"] }, () => read());
const other = compiledQuery(
  "rows",
  { on: (id: string) => [`rows:${id}`] },
  (id: string) => (id === "2" ? read() : []),
  {
    params: { id: "any" },
  },
);
const functions = {
  cards: query,
  rows: other,
  show_rows: compiledServer("show_rows", (id: string) => other.live(id), { params: { id: "any" } }),
  show: compiledServer("show", () => query.live()),
  /** Adds a card, and publishes to a channel; to none without one. */
  add: compiledServer(
    "add",
    (channel: string | null) => {
      cards.push("card");
      return channel === null ? undefined : publish(channel);
    },
    { params: { channel: "any" } },
  ),
  look: compiledServer("look", () => cards.length),
  fail: compiledServer("fail", () => {
    cards.push("card");
    throw new Error("The change was made before this.");
  }),
};

const send = (path: string, init: RequestInit) => app.fetch(new Request(`http://shop.example${path}`, init));
const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const call = (name: string, args: object = {}) => callOverHttp(app, name, args);

beforeEach(async () => {
  vi.useFakeTimers();
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  cards = [];
  read = () => cards;
  lines = [];
  edits = new EventEmitter();
  app = createTestApp(functions, { rate: false });
  const advice = new UnpublishedChanges(edits, new ErrorLog("/project", (text) => lines.push(text)), "/project");
  setDevelopment(app, { observer: advice.observe(requireInternals(app, "the test"), undefined) });
  const { result } = await (await call("show")).json();
  client = new QueryClient(send, [result]);
  await client.open();
  await wait(100);
});
afterEach(async () => {
  await client.close();
  await app.close();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a change that a live query shows", () => {
  it("is reported a second after the call if nothing was published, with the function, the query and the fix", async () => {
    await call("add", { channel: null });
    await wait(999);
    expect(lines).toEqual([]);
    await wait(1);
    expect(lines).toEqual([
      "\nWarning: After a call of add, the live query cards (src/cards.server.ts:1) returns another value than pages show, but " +
        'nothing was published to its channels "board:1", "members:1", so pages keep the old value. If add has made the change, ' +
        'publish it afterwards: `await publish("board:1")`.\nsrc/add.server.ts:1:1\n',
    ]);
    expect(client.first.value).toEqual([]); // as in a built application
  });

  it.each([
    ["boad:1", ' It has published to "boad:1": is that misspelled?'],
    ["orders", ' It has published to "orders" only.'],
  ])("is reported with the channel to which the function has published: %s", async (channel, text) => {
    await call("add", { channel });
    await wait(1_000);
    expect(lines.join()).toContain(text);
  });

  it("is reported once until the next edit", async () => {
    for (let n = 0; n < 3; n++) {
      await call("add", { channel: null });
      await wait(1_000);
    }
    expect(lines).toHaveLength(1);
    edits.emit("all");
    await call("add", { channel: "other" });
    await wait(1_000);
    expect(lines).toHaveLength(2);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["the function has published it", () => call("add", { channel: "members:1" })],
    [
      "something else publishes it within a second",
      async () => {
        await call("add", { channel: null });
        await wait(900);
        await app.publish("board:1", null);
      },
    ],
    ["the function has changed nothing", () => call("look")],
    ["the function has failed", () => call("fail")],
    [
      "no page shows the query",
      async () => {
        await client.close();
        await call("add", { channel: null });
      },
    ],
    [
      "a page that was loaded has shown it to all",
      async () => {
        await call("add", { channel: null });
        await call("show");
      },
    ],
    [
      "the query returns another value each time",
      async () => {
        read = () => Math.random();
        await call("look");
      },
    ],
    [
      "the query fails",
      async () => {
        read = () => {
          throw new Error("The database is unreachable.");
        };
        await call("look");
      },
    ],
  ])("is not reported if %s", async (_, act) => {
    await act();
    await wait(3_000);
    expect(lines).toEqual([]);
  });

  it("is found at a later call if the first one has changed nothing", async () => {
    await call("look");
    await wait(1_000);
    cards.push("card");
    await call("look");
    await wait(1_000);
    expect(lines).toHaveLength(1);
  });

  it("is found in whichever of the queries with other arguments it is", async () => {
    const results = await Promise.all(["1", "2"].map(async (id) => (await call("show_rows", { id })).json()));
    await client.close();
    client = new QueryClient(
      send,
      results.map(({ result }) => result),
    );
    await client.open();
    await wait(100);
    await call("add", { channel: null });
    await wait(1_000);
    expect(lines.join()).toContain("the live query rows (src/rows.server.ts:1)");
    expect(lines.join()).toContain('its channel "rows:2"');
  });
});
