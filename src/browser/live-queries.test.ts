/** Live values on the connection of the page: the frames of event streams and polls, and servers that cannot serve them. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { encodeEvent, FakePage, type FakePageOptions } from "#test/fake-page";
import { TextRoot } from "#test/text-root";
import { unsignedFeed } from "#test/unsigned-feed";
import type { LiveHandle } from "../protocol/index.ts";
import type { Live } from "./live-value.ts";

const ID = "query-of-board-1";
const TAG = "AAAAAAAAAAA";
const room = unsignedFeed("room:1", { position: "p.3" });

let page: FakePage;
let root: TextRoot;
let list: Live<unknown>;
/** The gaps of the page's feed. */
let gaps: string[];

/** A version: the value as a digit, twelve times, and the position of the channel. */
const version = (value: number, position = value) => `${String(value).repeat(12)}.run_${TAG}=e.${position}`;
const frame = (content: object) => encodeEvent.query(ID, content);
const emptyPoll = { events: [], gaps: [], cursor: "p.3" };

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0);
  root = new TextRoot();
  gaps = [];
});
afterEach(() => {
  root.renderComponent(null);
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

interface Shown {
  readonly value?: unknown;
  readonly subscribes?: boolean;
  /** What the view renders. */
  readonly view?: (list: Live<unknown>) => string;
}

/** Opens a page that shows a value, and sends its first request. */
async function open(shown: Shown = {}, options: FakePageOptions = {}): Promise<void> {
  const { value = ["one"], subscribes = true, view = ({ value, error }) => `${value} ${error?.code ?? ""}` } = shown;
  page = await FakePage.open({ build: "b5", ...options });
  const { live } = await import("./live-value.ts");
  const handle: LiveHandle = { query: "token.mac", id: ID, value, v: version(1) };
  root.renderComponent(() => {
    list = live(handle);
    return view(list);
  });
  if (subscribes) page.subscribe(room, () => {}, { gap: (reason) => void gaps.push(reason) });
  await page.advance();
}

/** Opens a page whose event streams fail, up to its first poll. */
async function openPolling(shown: Shown = {}): Promise<void> {
  await open(shown);
  for (let n = 0; n < 2; n++) {
    page.lastRequest.fail();
    await page.waitForRequest();
  }
  expect(page.lastRequest.path).toBe("/__web/poll");
}

async function push(content: object): Promise<void> {
  page.lastRequest.push(frame(content));
  await page.advance();
}

describe("a live value", () => {
  it("takes the frames of an event stream", async () => {
    await open();
    expect(page.lastRequest.queries).toEqual([`token.mac~${version(1)}`]);
    page.lastRequest.respondStream();
    await push({ v: version(2), base: version(1).slice(0, 12), patch: [[0, 1], "two"] });
    expect(root.text).toBe("one,two ");
    await push({ error: { code: "internal", message: "No.", details: {} } });
    expect(root.text).toBe("one,two internal");
    await push({ v: version(2, 3) });
    expect(root.text).toBe("one,two ");
    await push({ v: version(4), value: ["four"] });
    expect(root.text).toBe("four ");
    page.lastRequest.breakConnection();
    await page.waitForRequest();
    expect(page.lastRequest.queries).toEqual([`token.mac~${version(4)}`]);
  });

  it("requests the whole value after a patch of another base, and ignores frames until then", async () => {
    await open();
    page.lastRequest.respondStream();
    await push({ v: version(3), base: version(2).slice(0, 12), patch: [[0, 2]] });
    expect(page.requests).toHaveLength(2);
    expect(page.lastRequest.queries).toEqual(["token.mac"]);
    expect(root.text).toBe("one ");
    page.lastRequest.respondStream();
    await push({ v: version(3), value: ["three"] });
    expect([root.text, page.requests.length]).toEqual(["three ", 2]);
  });

  it("requests the value without its version while it has an error, which another process may not know of", async () => {
    await open();
    page.lastRequest.respondStream();
    await push({ error: { code: "internal", message: "No.", details: {} } });
    page.lastRequest.breakConnection();
    await page.waitForRequest();
    expect([page.lastRequest.queries, root.text]).toEqual([["token.mac"], "one internal"]);
    page.lastRequest.respondStream();
    await push({ v: version(1), value: ["one"] });
    expect(root.text).toBe("one ");
    page.lastRequest.breakConnection();
    await page.waitForRequest();
    expect(page.lastRequest.queries).toEqual([`token.mac~${version(1)}`]);
  });

  it("takes the frames of polls, and of the next one from its version on", async () => {
    await openPolling();
    page.lastRequest.respondJson({ ...emptyPoll, query: [[ID, { v: version(2), value: ["two"] }]] });
    await page.waitForRequest();
    expect(root.text).toBe("two ");
    expect([page.lastRequest.path, page.lastRequest.queries]).toEqual(["/__web/poll", [`token.mac~${version(2)}`]]);
    page.lastRequest.respondJson({ ...emptyPoll, query: [[ID, { ended: "token.mac" }]] });
    await page.advance(3_000);
    expect(page.reloadCount).toBe(1);
  });

  it("reloads the page when its token ends, but not for that of another tab [QUERY-43]", async () => {
    await open();
    page.lastRequest.respondStream();
    await push({ ended: "another.mac" });
    await page.advance(3_000);
    expect([page.reloadCount, page.requests.length]).toEqual([0, 1]);
    await push({ ended: "token.mac" });
    expect(page.lastRequest.queries).toBeUndefined(); // the feed goes on
    await page.advance(3_000);
    expect(page.reloadCount).toBe(1);
  });

  it.each([
    ["with a feed", { subscribes: true }],
    ["with queries only", { subscribes: false }],
  ])(
    "reloads the page when a poll is refused, because the key of the tokens has changed (%s) [QUERY-44]",
    async (_, shown) => {
      await openPolling(shown);
      page.lastRequest.respond(new Response("Forbidden", { status: 403 }));
      await page.advance(3_000);
      expect(page.reloadCount).toBe(1);
      expect(root.text).toBe("one ");
    },
  );

  it("does not reload the page for a refused event stream, which may be that of a proxy", async () => {
    await open();
    page.lastRequest.respond(new Response("Forbidden", { status: 403 }));
    await page.advance(3_000);
    expect(page.reloadCount).toBe(0);
  });
});

describe("a server that lacks the query", () => {
  it("is tried again for 10 seconds if it is older, then the page reloads; the value stays", async () => {
    await open();
    for (let attempt = 0; attempt <= 20; attempt++) {
      expect([attempt, page.reloadCount, page.requests.length]).toEqual([attempt, 0, attempt + 1]);
      page.lastRequest.respondStream();
      await push({ stale: "b4" });
      await page.advance(501);
    }
    expect(page.requests).toHaveLength(21);
    await page.advance(3_000);
    expect(page.reloadCount).toBe(1);
    expect(root.text).toBe("one ");
  });

  it("is tried for another 10 seconds after a value", async () => {
    await open();
    for (let attempt = 0; attempt < 30; attempt++) {
      page.lastRequest.respondStream();
      if (attempt === 15) await push({ v: version(1, 2) });
      await push({ stale: "" }); // not built
      await page.advance(501);
    }
    await page.advance(3_000);
    expect([page.reloadCount, page.requests.length]).toEqual([0, 31]);
  });

  it("makes the page reload at once if it is newer", async () => {
    await open();
    page.lastRequest.respondStream();
    await push({ stale: "b6" });
    await page.advance(3_000);
    expect([page.reloadCount, page.requests.length, root.text]).toEqual([1, 1, "one "]);
  });
});

describe("a server of a version without queries", () => {
  const refuse = async () => {
    page.lastRequest.respond(new Response("Unknown member", { status: 400 }));
    await page.advance();
  };

  it("gets polls without them after two attempts, and the next event stream has them again", async () => {
    await open();
    await refuse();
    await page.waitForRequest();
    await refuse();
    await refuse();
    while (page.lastRequest.path !== "/__web/live") {
      expect([page.lastRequest.path, page.lastRequest.feeds, page.lastRequest.queries]).toEqual([
        "/__web/poll",
        [room],
        undefined,
      ]);
      await page.advance(20_000);
      page.lastRequest.respondJson(emptyPoll);
      await page.waitForRequest();
      if (page.lastRequest.path === "/__web/poll") await refuse();
    }
    expect([root.text, page.lastRequest.queries]).toEqual(["one ", [`token.mac~${version(1)}`]]);
    page.lastRequest.respondStream();
    await push({ v: version(2), value: ["two"] });
    expect([root.text, page.reloadCount, gaps]).toEqual(["two ", 0, []]);
  });

  it("gets polls without them, and takes no feed for expired", async () => {
    await openPolling();
    for (let n = 0; n < 3; n++) {
      expect(page.lastRequest.queries).toEqual([`token.mac~${version(1)}`]);
      await refuse();
      expect([page.lastRequest.path, page.lastRequest.feeds, page.lastRequest.queries]).toEqual([
        "/__web/poll",
        [room],
        undefined,
      ]);
      page.lastRequest.respondJson(emptyPoll);
      await page.waitForRequest();
    }
    await page.advance(3_000);
    expect([root.text, page.reloadCount, gaps]).toEqual(["one ", 0, []]);
  });

  it("gets the queries of a page without feeds again and again, less and less often", async () => {
    await open({ subscribes: false });
    const before = performance.now();
    while (performance.now() < before + 120_000) {
      page.lastRequest.respond(new Response("Bad Request", { status: 400 }));
      await page.waitForRequest();
    }
    expect(page.requests.length).toBeGreaterThan(10);
    expect(page.requests.length).toBeLessThan(40);
    expect([root.text, page.reloadCount]).toEqual(["one ", 0]);
    while (!page.lastRequest.queries || page.lastRequest.path !== "/__web/poll") {
      page.lastRequest.respond(new Response("Bad Request", { status: 400 }));
      await page.waitForRequest();
    }
    page.lastRequest.respondJson({ ...emptyPoll, cursor: "", query: [[ID, { v: version(2), value: ["two"] }]] });
    await page.advance();
    expect(root.text).toBe("two ");
  });
});

describe("a value that is taken away", () => {
  const forbidden = { error: { code: "forbidden", message: "No.", details: {} } };

  it("is undefined in a view that reads the error [QUERY-41]", async () => {
    await open({
      value: { title: "one" },
      view: ({ error, value }) => error?.code ?? (value as { title: string }).title,
    });
    page.lastRequest.respondStream();
    await push(forbidden);
    expect([root.text, list.value, page.reloadCount]).toEqual(["forbidden", undefined, 0]);
    await push({ v: version(2), value: { title: "two" } });
    await page.advance(3_000);
    expect([root.text, page.reloadCount]).toEqual(["two", 0]);
  });

  it("is not rendered by a view that never reads the error: the page reloads [QUERY-42]", async () => {
    await open({ value: { title: "one" }, view: ({ value }) => (value as { title: string }).title });
    page.lastRequest.respondStream();
    await push(forbidden);
    await page.advance(3_000);
    expect([page.reloadCount, page.reportedErrors, list.value]).toEqual([1, [], undefined]);
  });

  it("is an empty list in every view [QUERY-40]", async () => {
    await open({ view: ({ value }) => `${(value as string[]).length}` });
    page.lastRequest.respondStream();
    await push(forbidden);
    await page.advance(3_000);
    expect([root.text, page.reloadCount]).toEqual(["0", 0]);
  });
});

describe("a call in a page with channels only", () => {
  /** Awaits a response that names a position, and says whether the wait has ended. */
  async function wait(position: number): Promise<{ isDone: boolean }> {
    const { landing } = await import("./landing.ts");
    const state = { isDone: false };
    const response = new Response(null, { headers: { "x-published": `${TAG}=p.${position}` } });
    void Promise.resolve(landing.wait?.(response)).then(() => {
      state.isDone = true;
    });
    await vi.dynamicImportSettled();
    await page.advance();
    return state;
  }

  async function openListening(): Promise<unknown[]> {
    page = await FakePage.open();
    const received: unknown[] = [];
    page.subscribe(room, (message) => received.push(message));
    await page.advance();
    return received;
  }

  it("waits for its message", async () => {
    const received = await openListening();
    page.lastRequest.respondStream().push(encodeEvent.tags({ [TAG]: "room:1" }));
    await page.advance();
    const call = await wait(4);
    await page.advance(1_000);
    expect(call.isDone).toBe(false);
    page.lastRequest.push(encodeEvent.message("0=p.4", "room:1", "hi"));
    await page.advance();
    expect([call.isDone, received]).toEqual([true, ["hi"]]);
  });

  it("waits for its message in a page that polls, whose polls have the tags", async () => {
    const received = await openListening();
    for (let n = 0; n < 2; n++) {
      page.lastRequest.fail();
      await page.waitForRequest();
    }
    page.lastRequest.respondJson({ ...emptyPoll, tags: [["1", { [TAG]: "room:1" }]] });
    await page.waitForRequest();
    const call = await wait(4);
    expect(call.isDone).toBe(false);
    page.lastRequest.respondJson({ events: [["room:1", "hi", "0=p.4"]], gaps: [], cursor: "p.4" });
    await page.advance();
    expect([call.isDone, received]).toEqual([true, ["hi"]]);
  });

  it.each([
    ["has been received already", "room:1", 3],
    ["is of another channel", "room:2", 4],
  ])("does not wait for a message that %s", async (_, channel, position) => {
    await openListening();
    page.lastRequest.respondStream().push(encodeEvent.tags({ [TAG]: channel }));
    await page.advance();
    expect((await wait(position)).isDone).toBe(true);
  });

  it.each([
    ["", () => {}],
    [", also if the request for its code hangs", () => vi.doMock("./live-landing.ts", () => new Promise(() => {}))],
  ])("waits two seconds at most%s", async (_, prepare) => {
    prepare();
    await openListening();
    page.lastRequest.respondStream().push(encodeEvent.tags({ [TAG]: "room:1" }));
    await page.advance();
    const call = await wait(4);
    await page.advance(1_999);
    expect(call.isDone).toBe(false);
    await page.advance(1);
    expect(call.isDone).toBe(true);
    vi.doUnmock("./live-landing.ts");
  });
});
