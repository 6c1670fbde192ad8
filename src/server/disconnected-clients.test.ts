import { setTimeout as wait } from "node:timers/promises";
import { h } from "preact";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import type { App, AppOptions } from "../app.ts";
import { request } from "../http/index.ts";

const HOST = "http://shop.example";

let log: MockInstance<typeof console.error>;
beforeEach(() => {
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

/** Sends a request, disconnects when `work` has started, and returns what was logged once the application is done. */
async function logOfDisconnect(send: Send, work: () => Promise<unknown>): Promise<string> {
  const client = new AbortController();
  const app = send.app(async () => {
    const running = work();
    client.abort();
    return await running;
  });
  await app.fetch(new Request(HOST + send.path, { ...send.init?.(), signal: client.signal }));
  return log.mock.calls.map(([line]) => String(line?.stack ?? line)).join("\n");
}

interface Send {
  readonly app: (work: () => Promise<unknown>) => App;
  readonly path: string;
  readonly init?: () => RequestInit;
}

const functionApp = (options: Partial<AppOptions> = {}) => {
  return (work: () => Promise<unknown>) => {
    const home = compiledPage("/", () => h("p", null, "home"));
    return createTestApp({ work: compiledServer("work", work), home }, options);
  };
};
const pageApp = (page: () => Promise<unknown>, options: Partial<AppOptions> = {}) =>
  createTestApp({ home: compiledPage("/", async () => String(await page())) }, options);

const form = () => ({ method: "POST", body: new FormData(), headers: { origin: HOST } });
const call = () => ({ method: "POST", body: '{"args":{}}', headers: { "content-type": "application/json" } });

const SENDS: Readonly<Record<string, Send>> = {
  "a call": { app: functionApp(), path: "/__web/rpc/work", init: call },
  "a call with a time limit": { app: functionApp({ rpc_timeout: 60 }), path: "/__web/rpc/work", init: call },
  "a form that is sent to its page": { app: functionApp(), path: "/?__form=work", init: form },
  "a form that a script sends": { app: functionApp(), path: "/__web/form/work", init: form },
  "a page": { app: (work) => pageApp(work), path: "/" },
  "a layout": {
    app: (work) => pageApp(async () => "home", { layout: async ({ children }) => [String(await work()), children] }),
    path: "/",
  },
  "the layout of an error page": {
    app: (work) => pageApp(async () => "home", { layout: async ({ children }) => [String(await work()), children] }),
    path: "/missing",
  },
  "`before`": {
    app: (work) =>
      pageApp(async () => "home", {
        before: async () => {
          await work();
        },
      }),
    path: "/",
  },
  "a route": {
    app: (work) => createTestApp({ hook: compiledRoute("GET /hook", async () => Response.json(await work())) }),
    path: "/hook",
  },
};

describe.each(Object.entries(SENDS))("the disconnection of the client from %s", (_, send) => {
  it("is not logged as a failure if it aborts what the application waits for", async () => {
    const text = await logOfDisconnect(send, () => wait(60_000, null, { signal: request.signal }));
    expect(text).toBe("");
  });

  it("does not hide an error with another cause", async () => {
    const text = await logOfDisconnect(send, async () => {
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      throw new Error("a real bug");
    });
    expect(text).toContain("a real bug");
  });
});

it("an AbortError of the application's own signal is logged while the client is connected", async () => {
  const app = functionApp()(() => wait(60_000, null, { signal: AbortSignal.abort() }));
  const response = await app.fetch(new Request(`${HOST}/__web/rpc/work`, call()));
  expect(response.status).toBe(500);
  expect(String(log.mock.calls)).toContain("The call of work failed");
});
