import { createServer, type Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openSocket, readUntil } from "#test/raw-http";
import { writeResponse } from "../write-response.ts";

const ID = "0123456789abcdef0123456789abcdef";
const TRACEPARENT = `00-${ID}-0123456789abcdef-00`;
const COMMON = ["content-type", "application/json", "cache-control", "private, no-store"];

/** What a test varies in a response, and in its request. */
interface Variant {
  readonly request?: string;
  readonly status?: number;
  readonly id?: string;
  readonly traceparent?: string;
  readonly further?: readonly string[];
  readonly body?: string;
  readonly change?: (response: ServerResponse) => unknown;
}

let server: Server;
let sharedHeaders: readonly string[];
let variant: Variant = {};
/** How often Node has made a head. */
let made = 0;
/** What the last response could not be written for. */
let thrown: unknown;

beforeEach(async () => {
  sharedHeaders = [...COMMON]; // another list, for which nothing is prepared
  variant = {};
  thrown = undefined;
  server = createServer(({ url }, response) => {
    const { status = 200, id = ID, traceparent = TRACEPARENT, further = [], body = "{}", change } = variant;
    change?.(response);
    const headers = [...COMMON, "x-request-id", id, "traceparent", traceparent, ...further];
    const isPrepared = url === "/prepared";
    try {
      void writeResponse({ status, headers, body, ...(isPrepared ? { sharedHeaders } : {}) }, response);
    } catch (error) {
      thrown = error;
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const prototype = ServerResponse.prototype as unknown as Record<"_storeHeader", (...args: unknown[]) => void>; // no public name
  const store = prototype._storeHeader;
  made = 0;
  vi.spyOn(prototype, "_storeHeader").mockImplementation(function (this: unknown, ...args) {
    made++;
    store.apply(this, args);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

const LINES = "HTTP/1.1\r\nHost: localhost\r\n\r\n";

/** Requests a path, and returns the whole response as it was sent. */
async function receive(path: string, { request = LINES, body = "{}" }: Variant = {}): Promise<string> {
  const { port } = server.address() as AddressInfo; // it listens on a port
  const socket = await openSocket(`http://localhost:${port}`);
  const response = readUntil(socket, new RegExp(`\r\n\r\n${Buffer.from(body).toString("latin1")}$`));
  socket.setEncoding("latin1").write(`GET ${path} ${request}`);
  return response.finally(() => socket.destroy());
}

/** Sends a response of a list whose head is prepared, and the same one as Node sends it. */
async function compare(compared: Variant) {
  await receive("/prepared");
  variant = compared;
  made = 0;
  const prepared = await receive("/prepared", compared);
  const isPrepared = made === 0;
  const usual = await receive("/usual", compared);
  const dates = [prepared, usual].map((text) => Date.parse(/\r\nDate: (.*)\r\n/.exec(text)?.[1] ?? ""));
  const withoutDate = (text: string) =>
    text.replace(/\r\nDate: \w{3}, \d{2} \w{3} \d{4} [\d:]{8} GMT\r\n/, "\r\nDate: \r\n");
  return { isPrepared, prepared: withoutDate(prepared), usual: withoutDate(usual), dates };
}

describe("the head of a response that differs in its ids, length and date", () => {
  it("is made by Node for the first response only", async () => {
    for (let n = 0; n < 5; n++) await receive("/prepared");
    expect(made).toBe(1);
  });

  it.each<[string, Variant]>([
    ["other ids", { id: "a.request_id-of.A.client", traceparent: `00-${"f".repeat(32)}-${"e".repeat(16)}-01` }],
    ["a long text", { body: JSON.stringify("x".repeat(9_999)) }],
    ["a text that is not ASCII", { body: '{"result":"Grüße, 世界 🌍"}' }],
    ["HTTP/1.0 with an open connection", { request: "HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" }],
  ])("is sent as Node would send it: %s", async (_, compared) => {
    const { isPrepared, prepared, usual } = await compare(compared);
    expect([isPrepared, prepared]).toEqual([true, usual]);
  });

  it("has the current date", async () => {
    const { dates } = await compare({});
    for (const date of dates) expect(Math.abs(date - Date.now())).toBeLessThan(5_000);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2030, 0, 2, 3, 4, 5, 999) });
    expect(await receive("/prepared")).toContain("\r\nDate: Wed, 02 Jan 2030 03:04:05 GMT\r\n");
    vi.useRealTimers();
  });
});

describe("the head of a response that differs in something else", () => {
  const { writeHead } = ServerResponse.prototype;
  it.each<[string, Variant]>([
    ["another status", { status: 404 }],
    ["a cookie", { further: ["set-cookie", "a=1; HttpOnly"] }],
    ["a header that was set before", { change: (response) => response.setHeader("X-Powered-By", "Express") }],
    ["a cookie that was set before", { change: (response) => response.setHeader("Set-Cookie", ["a=1", "b=2"]) }],
    ["a status text", { change: (response) => Object.assign(response, { statusMessage: "Fine" }) }],
    ["no date", { change: (response) => Object.assign(response, { sendDate: false }) }],
    ["a removed header of Node", { change: (response) => response.removeHeader("Connection") }],
    ["a connection that the client closes", { request: "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" }],
    [
      "a connection that the server closes",
      { change: (response) => Object.assign(response, { shouldKeepAlive: false }) },
    ],
    ["HTTP/1.0", { request: "HTTP/1.0\r\n\r\n" }],
    [
      "a body that the client may still wait with",
      { change: (response) => Object.assign(response, { _expect_continue: true }) },
    ],
    [
      "a writeHead of another package",
      {
        change: (response) => {
          response.writeHead = (...args: unknown[]) => {
            response.setHeader("X-Wrapped", "1");
            return Reflect.apply(writeHead, response, args) as ServerResponse;
          };
        },
      },
    ],
  ])("is made by Node: %s", async (_, compared) => {
    const { isPrepared, prepared, usual } = await compare(compared);
    expect([isPrepared, prepared]).toEqual([false, usual]);
  });

  it("is made by Node when the server closes idle connections after another time, or connections after some requests", async () => {
    await receive("/prepared");
    server.keepAliveTimeout = 17_000;
    expect(await receive("/prepared")).toContain("\r\nKeep-Alive: timeout=17\r\n");
    server.maxRequestsPerSocket = 9;
    expect(await receive("/prepared")).toContain("\r\nKeep-Alive: timeout=17, max=9\r\n");
    server.maxRequestsPerSocket = 0;
    server.keepAliveTimeout = 5_000;
    expect(await receive("/prepared")).toContain("\r\nKeep-Alive: timeout=5\r\n");
  });

  it.each<Variant>([{ id: "a\r\nset-cookie: b=1" }, { id: "a\nb" }, { traceparent: "00\r\nset-cookie: b=1" }])(
    "is rejected by Node if an id has a line break: %j",
    async (compared) => {
      await receive("/prepared");
      variant = compared;
      await expect(receive("/prepared")).rejects.toThrow("closed");
      expect(thrown).toMatchObject({ code: "ERR_INVALID_CHAR" });
    },
  );

  it("is rejected by Node if another was sent before", async () => {
    await receive("/prepared");
    variant = { change: (response) => response.writeHead(202).flushHeaders() };
    await expect(receive("/prepared")).rejects.toThrow("closed");
    expect(thrown).toMatchObject({ code: "ERR_HTTP_HEADERS_SENT" });
  });
});
