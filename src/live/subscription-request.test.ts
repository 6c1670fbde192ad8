import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { callOverHttp, createTestApp } from "#test/compiled-app";
import { issueFeed, liveFunctions, openEventStream, poll, requestLive } from "#test/live-client";
import type { App } from "../app.ts";
import { MAX_TTL_SECONDS } from "./channel.ts";
import { publish } from "./index.ts";
import { MAX_FEEDS } from "./subscription-request.ts";

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

describe.each(["live", "poll"] as const)("a request to /__web/%s", (endpoint) => {
  it.each([
    ["no feed", 400, [], /^The request has no feed\./],
    ["an empty feed", 403, [""], /not issued by this application/],
    ["a feed that the application has not issued", 403, ["AAAA"], /not issued by this application/],
    ["a valid and an invalid feed", 403, ["valid", "AAAA"], /not issued by/],
  ])("with %s gets %i", async (_feeds, status, feeds, message) => {
    const response = await requestLive(
      app,
      endpoint,
      feeds.map((name) => (name === "valid" ? feed : name)),
    );
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(message);
  });

  it(`with more than ${MAX_FEEDS} feeds gets 400`, async () => {
    const feeds = await Promise.all(Array.from({ length: MAX_FEEDS + 1 }, (_, n) => issueFeed(app, `r:${n}`)));
    const response = await requestLive(app, endpoint, feeds);
    expect([response.status, await response.text()]).toEqual([400, "The request has 33 feeds; the maximum is 32.\n"]);
    const allowed = await requestLive(app, endpoint, feeds.slice(1));
    expect(allowed.status).toBe(200);
    await allowed.body?.cancel();
  });

  it("with two feeds of one channel gets 400, also if they were issued at different times [LIVE-18]", async () => {
    const [other, again] = [await issueFeed(app, "room:2"), await issueFeed(app, "room:1")];
    for (const repeated of [feed, again]) {
      const response = await requestLive(app, endpoint, [feed, other, repeated]);
      expect([response.status, await response.text()]).toEqual([
        400,
        "The feeds 1 and 3 are of the same channel, room:1. Send one feed for each channel.\n",
      ]);
    }
  });

  it.each(["HEAD", "POST", "PUT", "OPTIONS"])("with the method %s gets 405", async (method) => {
    const response = await requestLive(app, endpoint, [feed], { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET"]);
  });

  it("with a URL of over 8,192 characters gets 414", async () => {
    const requestOfLength = (length: number) => {
      const path = `http://shop.example/__web/${endpoint}?feed=${feed}&x=`;
      return app.fetch(new Request(path + "x".repeat(length - path.length)));
    };
    expect((await requestOfLength(8 * 1024 + 1)).status).toBe(414);
    const allowed = await requestOfLength(8 * 1024);
    expect(allowed.status).toBe(200);
    await allowed.body?.cancel();
  });

  it("that is refused has a request id, and is not cached", async () => {
    const { headers } = await requestLive(app, endpoint, []);
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(headers.get("cache-control")).toBe("private, no-store");
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

describe("a gap is reported for", () => {
  it.each([
    ["with another number of positions", "a,b"],
    ["with invalid characters", "<script>"],
    ["with a line break", "a\nb"],
    ["of another bus", "zz.99999999999999999999"],
    ["that is far too long", "9".repeat(2000)],
  ])("a cursor %s", async (_problem, after) => {
    expect(await gapsOf([feed], { after })).toEqual([["room:1", "reset"]]);
    expect(await gapsOf([feed], { headers: { "last-event-id": encodeURIComponent(after) } })).toEqual([
      ["room:1", "reset"],
    ]);
  });

  it("a cursor that is after the end of the history", async () => {
    const { cursor } = await poll(app, [feed]);
    const ahead = cursor.replace(/.$/, "").concat("z");
    expect(await gapsOf([feed], { after: ahead })).toEqual([["room:1", expect.stringMatching(/^(reset|trimmed)$/)]]);
  });

  it("every feed of a request whose cursor has too few positions", async () => {
    const other = await issueFeed(app, "room:2");
    const { cursor } = await poll(app, [feed]);
    expect(await gapsOf([feed, other], { after: cursor })).toEqual([
      ["room:1", "reset"],
      ["room:2", "reset"],
    ]);
  });

  it("a feed of another sign-in, or of one that has ended [LIVE-2]", async () => {
    const adasCookie = await signIn("ada");
    const adasFeed = await issueFeed(app, "room:1", adasCookie);
    expect(await gapsOf([adasFeed], { headers: adasCookie })).toEqual([]);
    expect(await gapsOf([adasFeed])).toEqual([["room:1", "expired"]]);
    expect(await gapsOf([adasFeed], { headers: await signIn("bob") })).toEqual([["room:1", "expired"]]);
    expect(await gapsOf([adasFeed], { headers: await signIn("ada") })).toEqual([["room:1", "expired"]]);
  });

  it("no feed whose sign-in has a copy of its cookie, also after a sign-out or a sign-in with other roles", async () => {
    const adasCookie = await signIn("ada");
    const adasFeed = await issueFeed(app, "room:1", adasCookie);
    await callOverHttp(app, "leave", {}, { headers: adasCookie });
    await signIn("ada");
    expect(await gapsOf([adasFeed], { headers: adasCookie })).toEqual([]);
  });

  it("a feed that is 24 hours old, and not one that is a second younger", async () => {
    const issued = Date.now();
    const old = await issueFeed(app, "room:old");
    vi.useFakeTimers({ toFake: ["Date"], now: issued + (MAX_TTL_SECONDS - 2) * 1000 });
    try {
      expect(await gapsOf([old])).toEqual([]);
      vi.setSystemTime(issued + (MAX_TTL_SECONDS + 1) * 1000);
      expect(await gapsOf([old])).toEqual([["room:old", "expired"]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("a feed once: the next cursor marks it as reported", async () => {
    const adasFeed = await issueFeed(app, "room:1", await signIn("ada"));
    const fresh = await issueFeed(app, "room:2");
    const first = await poll(app, [adasFeed, fresh]);
    expect(first.gaps).toEqual([["room:1", "expired"]]);
    await publish("room:1", "not delivered");
    await publish("room:2", "delivered");
    const second = await poll(app, [adasFeed, fresh], { after: first.cursor });
    expect(second).toMatchObject({ events: [["room:2", "delivered"]], gaps: [] });
    const stream = await openEventStream(app, [adasFeed, fresh], { after: first.cursor });
    expect((await stream.next()).data).toEqual(["room:2", '"delivered"']);
    await stream.close();
  });
});

describe("a cursor that is earlier than its feed", () => {
  it("counts as the position of the feed: messages from before the feed was issued are not delivered [LIVE-6]", async () => {
    const earlyFeed = await issueFeed(app, "room:3");
    const { cursor } = await poll(app, [earlyFeed]);
    await publish("room:3", "before");
    const lateFeed = await issueFeed(app, "room:3");
    await publish("room:3", "after");
    expect((await poll(app, [lateFeed], { after: cursor })).events).toEqual([["room:3", "after"]]);
    expect((await poll(app, [earlyFeed], { after: cursor })).events).toHaveLength(2);
  });
});
