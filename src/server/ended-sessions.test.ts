/** Requests whose session ends between their head and the end of their body, over a socket: nothing that requires it runs. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledPage, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import { issueFeed, liveFunctions, openEventStream, poll } from "#test/live-client";
import { openSocket, parseResponse, type RawResponse, readToEnd } from "#test/raw-http";
import { linesOf } from "#test/streaming-app";
import { node } from "../adapters/index.ts";
import type { App } from "../app.ts";
import { channel } from "../live/index.ts";
import { session } from "../session/index.ts";

/** The cookies of a response that removes the session cookie. */
const REMOVED = [
  expect.stringMatching(/^web_signed_out=1;/), // for Back
  "web_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax",
];

const SIGNED_OUT_LINE = { error: { code: "unauthenticated", message: "You were signed out.", details: {} } };

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** The functions that have run, with the user that they saw. */
const ran: string[] = [];
const run = (name: string) => {
  ran.push(`${name} ${session.user()?.sub ?? "nobody"}`);
  return name;
};

/** Where slow schemas and slow functions wait until the test opens it. */
class Gate {
  #open = () => {};
  #arrive = () => {};
  readonly #isOpen = new Promise<void>((resolve) => {
    this.#open = resolve;
  });
  /** Resolves when something waits. */
  readonly arrived = new Promise<void>((resolve) => {
    this.#arrive = resolve;
  });

  pass(): Promise<void> {
    this.#arrive();
    return this.#isOpen;
  }

  open(): void {
    this.#open();
  }
}

let gate: Gate;

const slowSchema = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: async (value: unknown) => {
      await gate.pass();
      return { value };
    },
  },
} as const;

const REQUIRED = { auth_required: true } as const;
const SLOW = { auth_required: true, validate: { text: slowSchema } } as const;
const TEXT = { params: { text: "any" } } as const;

const MODULE = {
  ...liveFunctions,
  save: compiledServer("save", (_text: string) => run("save"), { ...TEXT, options: REQUIRED }),
  save_soon: compiledServer("save_soon", (_text: string) => run("save_soon"), {
    ...TEXT,
    options: { ...REQUIRED, rpc_timeout: 60 },
  }),
  save_checked: compiledServer("save_checked", (_text: string) => run("save_checked"), { ...TEXT, options: SLOW }),
  upload: compiledServer("upload", (_file: File) => run("upload"), {
    params: { file: { type: "any", files: "one" } },
    options: { ...REQUIRED, max_body: 8 * 1024 ** 2 },
  }),
  list: compiledServer(
    "list",
    function* (_text: string) {
      yield run("list");
    },
    { ...TEXT, stream: true, options: REQUIRED },
  ),
  list_checked: compiledServer(
    "list_checked",
    function* (_text: string) {
      yield run("list_checked");
    },
    { ...TEXT, stream: true, options: SLOW },
  ),
  watch: compiledServer(
    "watch",
    async function* () {
      yield run("watch");
      await gate.pass();
      yield run("watch");
    },
    { stream: true },
  ),
  watch_checked: compiledServer(
    "watch_checked",
    function* (_text: string) {
      yield run("watch_checked");
    },
    { ...TEXT, stream: true, options: { validate: { text: slowSchema } } },
  ),
  slow_feed: compiledServer("slow_feed", async () => {
    session.require();
    await gate.pass();
    return channel("private");
  }),
  unread_feed: compiledServer("unread_feed", async () => {
    await gate.pass();
    return channel("private");
  }),
  left_feed: compiledServer("left_feed", async () => {
    session.require();
    session.logout();
    return channel("public");
  }),
  page: compiledPage("/page", () => `page of ${session.user()?.sub ?? "nobody"}`),
  plain_page: compiledPage("/plain", () => "plain"),
  feed_page: compiledPage("/feed", async () => {
    await gate.pass();
    return await channel("private");
  }),
};

let app: App;
let server: Server;
let url: string;
const sockets: Socket[] = [];

beforeEach(async () => {
  ran.length = 0;
  gate = new Gate();
  app = createTestApp(MODULE, { rate: false });
  server = createServer(node(app));
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
  await app.close();
});

async function enter(user: string): Promise<string> {
  const response = await callOverHttp(app, "enter", { user });
  return String(response.headers.get("set-cookie")).split(";")[0] ?? "";
}

/** Signs a user in, and stops the clock two seconds before the session expires, or one: its times are whole seconds. */
async function enterBeforeExpiry(user: string): Promise<string> {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  const cookie = await enter(user);
  vi.setSystemTime(Date.now() + WEEK_MS - 2_000);
  return cookie;
}

/** Waits until the checks are done that a request passes before it waits. */
async function passChecks(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

/** A request whose body is sent in two parts. */
interface HeldRequest {
  readonly path: string;
  readonly type: string;
  readonly parts: readonly [string, string];
}

const JSON_PARTS = ['{"args":{"text":', '"a"}}'] as const;
const FIELD_PARTS = ["text=", "a"] as const;
const MULTIPART = "multipart/form-data; boundary=b";
const URLENCODED = "application/x-www-form-urlencoded";
const fileParts = (before: string): [string, string] => [
  `${before}--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${"x".repeat(100_000)}`,
  "x\r\n--b--\r\n",
];
const ARGUMENTS = '--b\r\nContent-Disposition: form-data; name="__args"\r\n\r\n{}\r\n';

const KINDS: Readonly<Record<string, HeldRequest>> = {
  "a call": { path: "/__web/rpc/save", type: "application/json", parts: JSON_PARTS },
  "a call with a time limit": { path: "/__web/rpc/save_soon", type: "application/json", parts: JSON_PARTS },
  "a form of a script": { path: "/__web/form/save", type: URLENCODED, parts: FIELD_PARTS },
  "a form without script": { path: "/page?__form=save", type: URLENCODED, parts: FIELD_PARTS },
  "an upload of a form": { path: "/__web/form/upload", type: MULTIPART, parts: fileParts("") },
  "an upload without script": { path: "/page?__form=upload", type: MULTIPART, parts: fileParts("") },
  "a call with a file": { path: "/__web/form/upload", type: MULTIPART, parts: fileParts(ARGUMENTS) },
  "a stream": { path: "/__web/rpc/list", type: "application/json", parts: JSON_PARTS },
};

/** Sends a request, does something once the server handles its first part, then sends the rest. */
async function sendHeld(request: HeldRequest, cookie: string, between: () => Promise<unknown>): Promise<RawResponse> {
  const { path, type, parts } = request;
  const socket = await openSocket(url);
  sockets.push(socket);
  const received = readToEnd(socket);
  const handled = once(server, "request");
  const length = parts.join("").length;
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nCookie: ${cookie}\r\nConnection: close\r\n` +
      `Content-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n${parts[0]}`,
  );
  await handled;
  await passChecks();
  await between();
  socket.write(parts[1]);
  return parseResponse(await received);
}

const expire = async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + WEEK_MS });
};
const ENDS: Readonly<Record<string, () => Promise<unknown>>> = {
  "its user was revoked": () => app.revoke("ada"),
  "it has expired": expire,
};

describe.each(Object.keys(ENDS))("after the session's end, because %s, before the end of the body", (end) => {
  const endSession = () => ENDS[end]?.();

  it.each(Object.entries(KINDS))("%s does not run [SESSION-18]", async (_kind, request) => {
    const response = await sendHeld(request, await enter("ada"), async () => endSession());
    expect(ran).toEqual([]);
    expect(response.status === 401 || response.body.includes('{"error":{"code":"unauthenticated"')).toBe(true);
  });

  it.each([
    ["a call", "/__web/rpc/save_checked", "application/json", JSON_PARTS],
    ["a form", "/__web/form/save_checked", URLENCODED, FIELD_PARTS],
    ["a form without script", "/page?__form=save_checked", URLENCODED, FIELD_PARTS],
    ["a stream", "/__web/rpc/list_checked", "application/json", JSON_PARTS],
  ])("%s whose schema waited does not run [SESSION-19]", async (_kind, path, type, parts) => {
    const sent = sendHeld({ path, type, parts }, await enter("ada"), async () => undefined);
    await gate.arrived;
    await endSession();
    gate.open();
    const response = await sent;
    expect(ran).toEqual([]);
    expect(response.status === 401 || response.body.includes('{"error":{"code":"unauthenticated"')).toBe(true);
  });

  it("channel() throws unauthenticated, whether or not the session was read before [SESSION-23]", async () => {
    for (const name of ["slow_feed", "unread_feed"]) {
      gate = new Gate();
      vi.useRealTimers();
      const called = callOverHttp(app, name, {}, { headers: { cookie: await enter("ada") } });
      await gate.arrived;
      await endSession();
      gate.open();
      const response = await called;
      expect([name, response.status, (await response.json()).error.code]).toEqual([name, 401, "unauthenticated"]);
    }
  });
});

describe.each(Object.entries(KINDS))("%s of a session that lasts", (_kind, request) => {
  it("runs, though another user was revoked before the end of its body", async () => {
    await sendHeld(request, await enter("ada"), () => app.revoke("bob"));
    expect(ran).toEqual([expect.stringMatching(/ ada$/)]);
  });
});

describe("a stream", () => {
  it("of a session that ends before it starts ends with unauthenticated, though the function requires none", async () => {
    const cookie = await enter("ada");
    const called = callOverHttp(app, "watch_checked", { text: "a" }, { headers: { cookie } });
    await gate.arrived;
    await app.revoke("ada");
    gate.open();
    expect(await linesOf(await called)).toEqual([SIGNED_OUT_LINE]);
    expect(ran).toEqual([]);
  });

  it("that waits ends with unauthenticated when its session expires [SESSION-20]", async () => {
    const cookie = await enterBeforeExpiry("ada");
    const lines = linesOf(await callOverHttp(app, "watch", {}, { headers: { cookie } }));
    await gate.arrived;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await lines).toEqual([{ chunk: "watch" }, SIGNED_OUT_LINE]);
    expect(ran).toEqual(["watch ada"]);
  });
});

describe("an event stream and a poll", () => {
  it("end when their session expires [SESSION-21]", async () => {
    const cookie = await enterBeforeExpiry("ada");
    const headers = { cookie };
    const feed = await issueFeed(app, "room", headers);
    const stream = await openEventStream(app, [feed], { headers });
    const polled = poll(app, [feed], { headers, wait: 25 });
    await passChecks();
    await vi.advanceTimersByTimeAsync(2_000);
    await expect(stream.take(1)).rejects.toThrow("The event stream has ended.");
    expect(await polled).toMatchObject({ events: [], gaps: [] });
    expect((await poll(app, [feed], { headers })).gaps).toEqual([["room", "expired"]]);
  });
});

describe("channel()", () => {
  it("issues a feed to a signed-out client after the request's own logout, which any client can read", async () => {
    const response = await callOverHttp(app, "left_feed", {}, { headers: { cookie: await enter("ada") } });
    const { result: feed } = await response.json();
    await app.publish("public", "text");
    expect((await poll(app, [feed])).events).toEqual([["public", "text"]]);
  });

  it("issues such a feed for a cookie that was refused from the start", async () => {
    const cookie = await enter("ada");
    await app.revoke("ada");
    const called = callOverHttp(app, "unread_feed", {}, { headers: { cookie } });
    await gate.arrived;
    await app.revoke("bob");
    gate.open();
    const { result: feed } = await (await called).json();
    await app.publish("private", "text");
    expect((await poll(app, [feed])).events).toEqual([["private", "text"]]);
  });

  it("of a page throws unauthenticated: its error page has the status 401, and removes the dead cookie", async () => {
    const cookie = await enter("ada");
    const loaded = getPage(app, "/feed", { headers: { cookie } });
    await gate.arrived;
    await app.revoke("ada");
    gate.open();
    const response = await loaded;
    expect([response.status, response.headers.getSetCookie()]).toEqual([401, REMOVED]);
  });
});

describe("a page", () => {
  it("removes a session cookie that was refused from the start", async () => {
    const cookie = await enter("ada");
    await app.revoke("ada");
    const response = await getPage(app, "/page", { headers: { cookie } });
    expect(await response.text()).toContain("page of nobody");
    expect([response.status, response.headers.getSetCookie()]).toEqual([200, REMOVED]);
  });

  it("removes neither a valid session cookie, nor one of another secret, nor one that nothing has read", async () => {
    const cookie = await enter("ada");
    const other = createTestApp(MODULE, { rate: false, env: { WEB_AUTH_SECRET: "6b".repeat(32) } });
    const cookiesOf = async (target: App, path: string) =>
      (await getPage(target, path, { headers: { cookie } })).headers.getSetCookie();
    expect([await cookiesOf(app, "/page"), await cookiesOf(other, "/page")]).toEqual([[], []]);
    await other.close();
    await app.revoke("ada");
    expect(await cookiesOf(app, "/plain")).toEqual([]);
  });

  it("without script removes the cookie too, and one of a function that signs in keeps its cookie", async () => {
    const cookie = await enter("ada");
    await app.revoke("ada");
    const post = (name: string, body: string) =>
      getPage(app, `/page?__form=${name}`, {
        method: "POST",
        headers: { cookie, origin: "http://shop.example", "content-type": URLENCODED },
        body,
      });
    const refused = await post("save", "text=a");
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([401, REMOVED]);
    const entered = await post("enter", "user=ada");
    expect([entered.status, entered.headers.getSetCookie()]).toEqual([303, [expect.stringMatching(/^web_session=e/)]]);
  });
});
