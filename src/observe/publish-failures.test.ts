/** Messages that the bus does not store: each `publish` rejects, and the log summarizes the calls that fail because of it. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledPage, compiledRoute, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { recordedLog } from "#test/recorded-log";
import type { App } from "../app.ts";
import { createRealtime, publish } from "../live/index.ts";
import { requireInternals } from "../server/index.ts";
import type { ErrorDetails } from "./error-hook.ts";

const headers = { origin: "http://shop.example", "content-type": "application/x-www-form-urlencoded" };
const send = (app: App, path: string) => getPage(app, path, { method: "POST", body: "a=b", headers });
const REQUESTS = {
  call: (app: App) => callOverHttp(app, "save"),
  stream: async (app: App) => (await callOverHttp(app, "numbers")).text(),
  form: (app: App) => send(app, "/__web/form/save"),
  "form of a page": (app: App) => send(app, "/page?__form=save"),
  page: (app: App) => getPage(app, "/visit"),
  route: (app: App) => send(app, "/hook"),
  "rejection that nothing handles": async (app: App) => {
    const err: unknown = await app.publish("room", 1).catch((error: unknown) => error);
    requireInternals(app, "the test").log.error({ err }, "Unhandled promise rejection");
  },
} as const;

let bus: FaultyBus;
let app: App;
let lines: ReturnType<typeof recordedLog>["lines"];
let reported: { readonly error: unknown; readonly details: ErrorDetails }[];
const save = () => publish("room", 1);
beforeEach(() => {
  bus = createFaultyBus();
  bus.isUnreachable = true;
  createRealtime({ isBuilt: false }).use_bus(bus);
  const recorded = recordedLog();
  lines = recorded.lines;
  const received: typeof reported = []; // closing the application of the test before also reports
  reported = received;
  app = createTestApp(
    {
      save: compiledServer("save", save),
      numbers: compiledServer(
        "numbers",
        async function* () {
          yield 1;
          await save();
        },
        { stream: true },
      ),
      save_or_not: compiledServer("save_or_not", () => save().catch(({ message }: Error) => message)),
      wrapped: compiledServer("wrapped", () =>
        save().catch((cause) => Promise.reject(new Error("Sold out", { cause }))),
      ),
      page: compiledPage("/page", () => null),
      visit: compiledPage("/visit", async () => String(await save())),
      hook: compiledRoute("POST /hook", async () => new Response(String(await save()))),
    },
    { rate: false, log: recorded.log, on_error: (error, details) => void received.push({ error, details }) },
  );
});
afterEach(async () => {
  vi.useRealTimers();
  await app.close();
});

/** Resolves when `on_error` was called for everything so far. */
const hooksCalled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe("a message that the bus does not store", () => {
  it.each(Object.keys(REQUESTS) as (keyof typeof REQUESTS)[])(
    "is one log line and one call of on_error for 20 failures of the kind: %s",
    async (kind) => {
      for (let times = 0; times < 20; times++) await REQUESTS[kind](app);
      await hooksCalled();
      expect(lines).toMatchObject([
        { level: "error", fields: { reason: "publish", failed: 1, err: { message: "The bus is unreachable." } } },
      ]);
      expect(reported.map(({ error }) => String(error))).toEqual(["Error: The bus is unreachable."]);
    },
  );

  it("rejects for a function that handles it, which neither the log nor on_error receives", async () => {
    const response = await callOverHttp(app, "save_or_not");
    expect(await response.json()).toEqual({ result: "The bus is unreachable." });
    await hooksCalled();
    expect([lines, reported]).toEqual([[], []]);
  });

  it("fails each call of a function that does not handle it, with its request id", async () => {
    for (const id of ["first-of-these", "second-of-these"]) {
      const response = await callOverHttp(app, "save", {}, { headers: { "x-request-id": id } });
      expect(response.status).toBe(500);
      expect((await response.json()).error.message).toContain(id);
    }
    await hooksCalled();
    expect(lines).toMatchObject([{ fields: { id: "first-of-these" }, message: "The call of save failed" }]);
    expect(reported).toMatchObject([{ details: { kind: "call", id: "first-of-these", request: { name: "save" } } }]);
  });

  it("is counted, and both receive the latest one after each minute with more", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    for (let n = 1; n <= 30; n++) await callOverHttp(app, "save", {}, { headers: { "x-request-id": `request-${n}` } });
    vi.advanceTimersByTime(60_000);
    await hooksCalled();
    expect(lines.slice(1)).toMatchObject([
      {
        level: "error",
        fields: { reason: "publish", failed: 29, id: "request-30", err: { message: "The bus is unreachable." } },
        message: "The bus did not store 29 messages in the last minute. The latest: The call of save failed",
      },
    ]);
    expect(reported.map(({ details }) => [details.kind, details.id])).toEqual([
      ["call", "request-1"],
      ["background", null],
    ]);
    vi.advanceTimersByTime(60_000);
    await callOverHttp(app, "save", {}, { headers: { "x-request-id": "of-a-later-outage" } });
    expect(lines.slice(2)).toMatchObject([{ fields: { failed: 1, id: "of-a-later-outage" } }]);
  });

  it("is not summarized if the function throws an error of its own", async () => {
    for (let times = 0; times < 3; times++) await callOverHttp(app, "wrapped");
    await hooksCalled();
    expect(lines.map(({ message, fields }) => [message, "failed" in fields])).toEqual(
      Array(3).fill(["The call of wrapped failed", false]),
    );
    expect(reported).toHaveLength(3);
  });
});
