import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { callOverHttp, createTestApp } from "#test/compiled-app";
import { issueFeed, liveFunctions, openEventStream, poll, postLive, requestLive } from "#test/live-client";
import type { App } from "../app.ts";
import { MAX_TTL_SECONDS } from "./channel.ts";
import { publish } from "./index.ts";
import { MAX_SUBSCRIPTION_BYTES } from "./subscription-request.ts";

let app: App;
let feed: string;
beforeAll(async () => {
  app = createTestApp(liveFunctions, { rate: false });
  feed = await issueFeed(app, "room:1");
});
afterAll(() => app.close());

const cookieOf = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
const signIn = async (user: string) => ({ cookie: cookieOf(await callOverHttp(app, "enter", { user })) });

const ENDPOINTS = [
  ["GET", "live"],
  ["GET", "poll"],
  ["POST", "live"],
  ["POST", "poll"],
] as const;

describe.each(ENDPOINTS)("a %s request to /__web/%s", (method, endpoint) => {
  const max = method === "GET" ? 32 : 256;

  it.each([
    ["no feed", 400, [], /^The request has no feed\b/],
    ["an empty feed", 403, [""], /not issued by this application/],
    ["a feed that the application has not issued", 403, ["AAAA"], /not issued by this application/],
    ["a valid and an invalid feed", 403, ["valid", "AAAA"], /not issued by/],
  ])("with %s gets %i", async (_feeds, status, feeds, message) => {
    const response = await requestLive(
      app,
      endpoint,
      feeds.map((name) => (name === "valid" ? feed : name)),
      { method },
    );
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(message);
  });

  it(`with more than ${max} feeds gets 400`, async () => {
    const feeds = await Promise.all(Array.from({ length: max + 1 }, (_, n) => issueFeed(app, `r:${n}`)));
    const response = await requestLive(app, endpoint, feeds, { method });
    const message = `The request has ${max + 1} feeds; the maximum of ${method} is ${max}.\n`;
    expect([response.status, await response.text()]).toEqual([400, message]);
    const allowed = await requestLive(app, endpoint, feeds.slice(1), { method });
    expect(allowed.status).toBe(200);
    await allowed.body?.cancel();
  });

  it("with two feeds of one channel gets 400, also if they were issued at different times [LIVE-18]", async () => {
    const [other, again] = [await issueFeed(app, "room:2"), await issueFeed(app, "room:1")];
    for (const repeated of [feed, again]) {
      const response = await requestLive(app, endpoint, [feed, other, repeated], { method });
      expect([response.status, await response.text()]).toEqual([
        400,
        "The feeds 1 and 3 are of the same channel, room:1. Send one feed for each channel.\n",
      ]);
    }
  });

  it("with a URL of over 8,192 characters gets 414", async () => {
    const post = { method, headers: { "content-type": "application/json" }, body: JSON.stringify({ feeds: [feed] }) };
    const requestOfLength = (length: number) => {
      const path = `http://shop.example/__web/${endpoint}?feed=${feed}&x=`;
      return app.fetch(new Request(path + "x".repeat(length - path.length), method === "POST" ? post : {}));
    };
    expect((await requestOfLength(8 * 1024 + 1)).status).toBe(414);
    const allowed = await requestOfLength(8 * 1024);
    expect(allowed.status).toBe(200);
    await allowed.body?.cancel();
  });

  it("that is refused has a request id, and is not cached", async () => {
    const { headers } = await requestLive(app, endpoint, [], { method });
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(headers.get("cache-control")).toBe("private, no-cache");
  });
});

describe.each(["live", "poll"] as const)("a request to /__web/%s", (endpoint) => {
  it.each(["HEAD", "PUT", "DELETE", "OPTIONS"])("with the method %s gets 405", async (method) => {
    const response = await requestLive(app, endpoint, [feed], { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, POST"]);
  });
});

describe.each(["live", "poll"] as const)("a POST to /__web/%s", (endpoint) => {
  it.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])(
    "with the content type %j gets 415, and the connection is closed [LIVE-20]",
    async (type) => {
      const response = await postLive(app, endpoint, { feeds: [feed] }, { headers: { "content-type": type } });
      expect([response.status, response.headers.get("connection")]).toEqual([415, "close"]);
      expect(await response.text()).toBe("The content type of a POST must be application/json.\n");
    },
  );

  it("takes a content type with parameters", async () => {
    const headers = { "content-type": "Application/JSON; charset=utf-8" };
    const response = await postLive(app, endpoint, { feeds: [feed] }, { headers });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  const members = endpoint === "live" ? "feeds, tokens, queries, cursor" : "feeds, tokens, queries, cursor, wait";
  it.each([
    ["no JSON", "{", 'The body is not JSON. Send {"feeds": ["…"]}.'],
    ["nothing", "", 'The body is not JSON. Send {"feeds": ["…"]}.'],
    ["a list", [], 'The body must be an object, {"feeds": ["…"]}; it is a list.'],
    ["null", null, 'The body must be an object, {"feeds": ["…"]}; it is null.'],
    ["JSON that nests deep", `{"feeds":${"[".repeat(5_000)}`, 'The body is not JSON. Send {"feeds": ["…"]}.'],
    ["an unknown member", { feed: ["a"] }, `The body has the unknown member "feed". Its members are ${members}.`],
    [
      "__proto__",
      '{"__proto__":{"feeds":["a"]}}',
      `The body has the unknown member "__proto__". Its members are ${members}.`,
    ],
    [
      "no feeds",
      {},
      'The request has no feed, no token and no query. Send {"feeds": ["…"]} with a feed that channel() has issued.',
    ],
    ["one feed as a string", { feeds: "a" }, "feeds must be a list of strings; it is a string."],
    ["null as feeds", { feeds: null }, "feeds must be a list of strings; it is null."],
    ["a number as feed", { feeds: ["a", 1] }, "feeds must be a list of strings; feeds[1] is a number."],
    ["an object as tokens", { tokens: {} }, "tokens must be a list of strings; it is an object."],
    ["a list as token", { tokens: [[]] }, "tokens must be a list of strings; tokens[0] is a list."],
    [
      "too many tokens",
      { tokens: Array.from({ length: 257 }, String) },
      "The request has 257 tokens; the maximum of POST is 256.",
    ],
    ["a string as queries", { queries: "a" }, "queries must be a list of strings; it is a string."],
    ["a number as query", { queries: [1] }, "queries must be a list of strings; queries[0] is a number."],
    [
      "too many queries",
      { queries: Array.from({ length: 257 }, String) },
      "The request has 257 queries; the maximum of POST is 256.",
    ],
    ["a list as cursor", { feeds: ["a"], cursor: ["a"] }, "cursor must be a string; it is a list."],
  ])("with %s gets 400", async (_body, body, message) => {
    const response = await postLive(app, endpoint, body);
    expect([response.status, await response.text()]).toEqual([400, `${message}\n`]);
  });

  it("has a body of 512 KiB at most: with a byte more it gets 413 [LIVE-21]", async () => {
    const statusOf = async (bytes: number) => {
      const json = JSON.stringify({ feeds: [feed] });
      const response = await postLive(app, endpoint, json + " ".repeat(bytes - json.length));
      await response.body?.cancel();
      return [response.status, response.headers.get("connection")];
    };
    expect(MAX_SUBSCRIPTION_BYTES).toBe(512 * 1024);
    expect(await statusOf(MAX_SUBSCRIPTION_BYTES)).toEqual([200, null]);
    expect(await statusOf(MAX_SUBSCRIPTION_BYTES + 1)).toEqual([413, "close"]);
  });

  it("can have tokens without a feed; an unknown token is refused", async () => {
    const response = await postLive(app, endpoint, { tokens: ["unknown"] });
    expect(response.status).toBe(403);
    expect(await response.text()).toBe("A presence token was not issued by this application. Load the page again.\n");
  });

  it("with queries is refused as by an earlier version, if the application has none: pages leave them out then", async () => {
    const response = await postLive(app, endpoint, { queries: ["unknown"] });
    expect(response.status).toBe(400);
    expect(await response.text()).toBe("This application has no queries.\n");
  });

  it("reads no Last-Event-ID, which only an EventSource sends", async () => {
    const headers = { "last-event-id": "malformed cursor" };
    expect(await gapsOf([feed], { method: "POST", headers })).toEqual([]);
  });
});

it("a POST for an event stream cannot wait", async () => {
  const response = await postLive(app, "live", { feeds: [feed], wait: 1 });
  expect([response.status, await response.text()]).toEqual([
    400,
    'The body has the unknown member "wait". Its members are feeds, tokens, queries, cursor.\n',
  ]);
});

describe("the member `wait` of a POST for a poll", () => {
  it.each([-1, 26, 1.5, 1e9])("cannot be %j", async (wait) => {
    const response = await requestLive(app, "poll", [feed], { method: "POST", wait });
    expect(response.status).toBe(400);
    expect(await response.text()).toBe("wait must be a whole number from 0 to 25, in seconds.\n");
  });

  it("cannot be a string", async () => {
    const response = await requestLive(app, "poll", [feed], { method: "POST", wait: "1" });
    expect([response.status, await response.text()]).toEqual([400, "wait must be a number; it is a string.\n"]);
  });
});

describe("the parameter `wait` of a poll", () => {
  it.each(["-1", "26", "1.5", "x", "1e1", "", " 1", "100"])("cannot be %j", async (wait) => {
    const response = await requestLive(app, "poll", [feed], { wait });
    expect(response.status).toBe(400);
    expect(await response.text()).toBe("wait must be a whole number from 0 to 25, in seconds.\n");
  });
});

/** Returns the gaps of a request, after it has checked that event stream and poll report the same. */
async function gapsOf(
  feeds: readonly string[],
  options: Parameters<typeof poll>[2] = {},
): Promise<(string | undefined)[][]> {
  const polled = (await poll(app, feeds, options)).gaps;
  const stream = await openEventStream(app, feeds, options);
  const streamed = [];
  for (let n = 0; n < polled.length; n++) streamed.push([...(await stream.next()).data]);
  await stream.close();
  expect(streamed).toEqual(polled);
  return polled;
}

describe.each(["GET", "POST"])("a gap of a %s request is reported for", (method) => {
  it.each([
    ["with another number of positions", "a,b"],
    ["with invalid characters", "<script>"],
    ["with a line break", "a\nb"],
    ["of another bus", "zz.99999999999999999999"],
    ["that is far too long", "9".repeat(2000)],
  ])("a cursor %s", async (_problem, after) => {
    expect(await gapsOf([feed], { method, after })).toEqual([["room:1", "reset"]]);
    if (method === "POST") return;
    expect(await gapsOf([feed], { headers: { "last-event-id": encodeURIComponent(after) } })).toEqual([
      ["room:1", "reset"],
    ]);
  });

  it("a cursor that is after the end of the history", async () => {
    const { cursor } = await poll(app, [feed], { method });
    const ahead = cursor.replace(/.$/, "").concat("z");
    expect(await gapsOf([feed], { method, after: ahead })).toEqual([
      ["room:1", expect.stringMatching(/^(reset|trimmed)$/)],
    ]);
  });

  it("every feed of a request whose cursor has too few positions", async () => {
    const other = await issueFeed(app, "room:2");
    const { cursor } = await poll(app, [feed], { method });
    expect(await gapsOf([feed, other], { method, after: cursor })).toEqual([
      ["room:1", "reset"],
      ["room:2", "reset"],
    ]);
  });

  it("a feed of another sign-in, or of one that has ended [LIVE-2]", async () => {
    const adasCookie = await signIn("ada");
    const adasFeed = await issueFeed(app, "room:1", adasCookie);
    expect(await gapsOf([adasFeed], { method, headers: adasCookie })).toEqual([]);
    expect(await gapsOf([adasFeed], { method })).toEqual([["room:1", "expired"]]);
    expect(await gapsOf([adasFeed], { method, headers: await signIn("bob") })).toEqual([["room:1", "expired"]]);
    expect(await gapsOf([adasFeed], { method, headers: await signIn("ada") })).toEqual([["room:1", "expired"]]);
  });

  it("no feed whose sign-in has a copy of its cookie, also after a sign-out or a sign-in with other roles", async () => {
    const adasCookie = await signIn("ada");
    const adasFeed = await issueFeed(app, "room:1", adasCookie);
    await callOverHttp(app, "leave", {}, { headers: adasCookie });
    await signIn("ada");
    expect(await gapsOf([adasFeed], { method, headers: adasCookie })).toEqual([]);
  });

  it("a feed that is 24 hours old, and not one that is a second younger", async () => {
    const issued = Date.now();
    const old = await issueFeed(app, "room:old");
    vi.useFakeTimers({ toFake: ["Date"], now: issued + (MAX_TTL_SECONDS - 2) * 1000 });
    try {
      expect(await gapsOf([old], { method })).toEqual([]);
      vi.setSystemTime(issued + (MAX_TTL_SECONDS + 1) * 1000);
      expect(await gapsOf([old], { method })).toEqual([["room:old", "expired"]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("a feed once: the next cursor marks it as reported", async () => {
    const adasFeed = await issueFeed(app, "room:1", await signIn("ada"));
    const fresh = await issueFeed(app, "room:2");
    const first = await poll(app, [adasFeed, fresh], { method });
    expect(first.gaps).toEqual([["room:1", "expired"]]);
    await publish("room:1", "not delivered");
    await publish("room:2", "delivered");
    const second = await poll(app, [adasFeed, fresh], { method, after: first.cursor });
    expect(second).toMatchObject({
      events: [["room:2", "delivered", ...(method === "POST" ? [expect.stringMatching(/^1=./)] : [])]],
      gaps: [],
    });
    const stream = await openEventStream(app, [adasFeed, fresh], { method, after: first.cursor });
    expect((await stream.next()).data).toEqual(["room:2", '"delivered"']);
    await stream.close();
  });
});

describe.each(["GET", "POST"])("a cursor of a %s request that is earlier than its feed", (method) => {
  it("counts as the position of the feed: messages from before the feed was issued are not delivered [LIVE-6]", async () => {
    const earlyFeed = await issueFeed(app, "room:3");
    const { cursor } = await poll(app, [earlyFeed], { method });
    await publish("room:3", "before");
    const lateFeed = await issueFeed(app, "room:3");
    await publish("room:3", "after");
    const messages = (await poll(app, [lateFeed], { method, after: cursor })).events.map(([, message]) => message);
    expect(messages).toEqual(["after"]);
    expect((await poll(app, [earlyFeed], { method, after: cursor })).events).toHaveLength(2);
  });
});
