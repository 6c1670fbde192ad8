import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { appOf, call } from "#test/compiled";
import { ask, feedOf, listen, listening, poll } from "#test/listener";
import type { App } from "../app.ts";
import { MAX_FEEDS } from "./asked.ts";
import { FEED_SECONDS } from "./feed.ts";
import { publish } from "./index.ts";

let app: App;
let feed: string;
beforeAll(async () => {
  app = appOf(listening, { rate: false });
  feed = await feedOf(app, "room:1");
});
afterAll(() => app.close());

const cookieOf = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
const signIn = async (who: string) => ({ cookie: cookieOf(await call(app, "enter", { who })) });

describe.each(["live", "poll"] as const)("what is refused by a status, of /__web/%s", (what) => {
  it.each([
    ["no feed", [], 400, /No feed is asked for/],
    ["an empty feed", [""], 403, /not one that this application has issued/],
    ["no feed of ours", ["AAAA"], 403, /not one that this application has issued/],
    ["one of ours beside one that is not", ["ours", "AAAA"], 403, /not one that/],
  ])("is %s", async (_what, feeds, status, message) => {
    const response = await ask(
      app,
      what,
      feeds.map((each) => (each === "ours" ? feed : each)),
    );
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(message);
  });

  it(`is more than ${MAX_FEEDS} feeds`, async () => {
    const feeds = await Promise.all(Array.from({ length: MAX_FEEDS + 1 }, (_, n) => feedOf(app, `r:${n}`)));
    const response = await ask(app, what, feeds);
    expect([response.status, await response.text()]).toEqual([400, "33 feeds are asked for, 32 at most.\n"]);
    const allowed = await ask(app, what, feeds.slice(1));
    expect(allowed.status).toBe(200);
    await allowed.body?.cancel();
  });

  it.each(["HEAD", "POST", "PUT", "OPTIONS"])("is the method %s", async (method) => {
    const response = await ask(app, what, [feed], { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET"]);
  });

  it("is an address of over 8 KiB", async () => {
    const around = (length: number) => {
      const path = `http://shop.example/__web/${what}?feed=${feed}&x=`;
      return app.fetch(new Request(path + "x".repeat(length - path.length)));
    };
    expect((await around(8 * 1024 + 1)).status).toBe(414);
    const allowed = await around(8 * 1024);
    expect(allowed.status).toBe(200);
    await allowed.body?.cancel();
  });

  it("has an id, and is for nobody's cache", async () => {
    const { headers } = await ask(app, what, []);
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(headers.get("cache-control")).toBe("private, no-store");
  });
});

describe("the wait of a poll", () => {
  it.each(["-1", "26", "1.5", "x", "1e1", "", " 1", "100"])("cannot be %j", async (wait) => {
    const response = await ask(app, "poll", [feed], { wait });
    expect(response.status).toBe(400);
    expect(await response.text()).toBe("wait is a whole number from 0 to 25, in seconds.\n");
  });
});

/** What both ways tell of the gaps of a request. */
async function gapsOf(
  feeds: readonly string[],
  more: Parameters<typeof poll>[2] = {},
): Promise<(string | undefined)[][]> {
  const polled = (await poll(app, feeds, more)).gaps;
  const page = await listen(app, feeds, more);
  const streamed = [];
  for (let n = 0; n < polled.length; n++) streamed.push([...(await page.next()).data]);
  await page.close();
  expect(streamed).toEqual(polled);
  return polled;
}

describe("what is told as a gap", () => {
  it.each([
    ["of too few positions", "a,b"],
    ["with anything in it", "<script>"],
    ["with a line break", "a\nb"],
    ["of another feed's shape", "zz.99999999999999999999"],
    ["that is far too long", "9".repeat(2000)],
  ])("is a cursor %s", async (_what, after) => {
    expect(await gapsOf([feed], { after })).toEqual([["room:1", "reset"]]);
    expect(await gapsOf([feed], { headers: { "last-event-id": encodeURIComponent(after) } })).toEqual([
      ["room:1", "reset"],
    ]);
  });

  it("is a cursor in the future", async () => {
    const { cursor } = await poll(app, [feed]);
    const ahead = cursor.replace(/.$/, "").concat("z");
    expect(await gapsOf([feed], { after: ahead })).toEqual([["room:1", expect.stringMatching(/^(reset|trimmed)$/)]]);
  });

  it("is a cursor of the wrong count, of every feed", async () => {
    const other = await feedOf(app, "room:2");
    const { cursor } = await poll(app, [feed]);
    expect(await gapsOf([feed, other], { after: cursor })).toEqual([
      ["room:1", "reset"],
      ["room:2", "reset"],
    ]);
  });

  it("is a feed of another sign-in, or of none any more", async () => {
    const ada = await signIn("ada");
    const hers = await feedOf(app, "room:1", ada);
    expect(await gapsOf([hers], { headers: ada })).toEqual([]);
    expect(await gapsOf([hers])).toEqual([["room:1", "expired"]]);
    expect(await gapsOf([hers], { headers: await signIn("bob") })).toEqual([["room:1", "expired"]]);
    expect(await gapsOf([hers], { headers: await signIn("ada") })).toEqual([["room:1", "expired"]]);
  });

  it("is a feed of 24 hours ago, and not one of a second less", async () => {
    const issued = Date.now();
    const old = await feedOf(app, "room:old");
    vi.useFakeTimers({ toFake: ["Date"], now: issued + (FEED_SECONDS - 2) * 1000 });
    try {
      expect(await gapsOf([old])).toEqual([]);
      vi.setSystemTime(issued + (FEED_SECONDS + 1) * 1000);
      expect(await gapsOf([old])).toEqual([["room:old", "expired"]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is told once: the cursor says that it was", async () => {
    const hers = await feedOf(app, "room:1", await signIn("ada"));
    const fresh = await feedOf(app, "room:2");
    const first = await poll(app, [hers, fresh]);
    expect(first.gaps).toEqual([["room:1", "expired"]]);
    await publish("room:1", "not for them");
    await publish("room:2", "for them");
    const second = await poll(app, [hers, fresh], { after: first.cursor });
    expect(second).toMatchObject({ events: [["room:2", "for them"]], gaps: [] });
    const page = await listen(app, [hers, fresh], { after: first.cursor });
    expect((await page.next()).data).toEqual(["room:2", '"for them"']);
    await page.close();
  });
});

describe("a cursor of before the feed", () => {
  it("counts as the feed's own position: nobody reads what was said before they were let in", async () => {
    const early = await feedOf(app, "room:3");
    const { cursor } = await poll(app, [early]);
    await publish("room:3", "before");
    const late = await feedOf(app, "room:3");
    await publish("room:3", "after");
    expect((await poll(app, [late], { after: cursor })).events).toEqual([["room:3", "after"]]);
    expect((await poll(app, [early], { after: cursor })).events).toHaveLength(2);
  });
});
