import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { callOverHttp, compiledPage, compiledRoute, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import type { App, AppOptions } from "../app.ts";
import { RPCError, ValueError } from "../errors.ts";
import { NotFound } from "../pages/index.ts";
import { requireInternals } from "../server/index.ts";
import type { ErrorDetails } from "./error-hook.ts";

const SECRET_QUERY = "token=hunter2";

interface Reported {
  readonly error: unknown;
  readonly details: ErrorDetails;
}

let printed: MockInstance<typeof console.error>;
beforeEach(() => {
  printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => void vi.restoreAllMocks());

/** An application in which everything throws the same error, and what its `on_error` has received. */
function failingApp(error: unknown, options: Partial<AppOptions> = {}): { app: App; reported: Reported[] } {
  const fail = (): never => {
    throw error;
  };
  const reported: Reported[] = [];
  const app = createTestApp(
    {
      fail: compiledServer("fail", fail),
      fail_later: compiledServer("fail_later", async () => fail()),
      numbers: compiledServer(
        "numbers",
        function* () {
          yield 1;
          fail();
        },
        { stream: true },
      ),
      user: compiledPage("/users/:id", fail),
      hook: compiledRoute("POST /hooks/:id", fail),
    },
    { on_error: (received, details) => void reported.push({ error: received, details }), ...options },
  );
  return { app, reported };
}

const HEADERS = { "x-request-id": "id-of-this-one", "content-type": "application/json", origin: "http://shop.example" };
const post = (app: App, path: string, type = "application/x-www-form-urlencoded") =>
  getPage(app, path, { method: "POST", body: "a=b", headers: { ...HEADERS, "content-type": type } });

const SENDERS = {
  call: (app: App) => callOverHttp(app, "fail", {}, { headers: HEADERS }),
  "later call": (app: App) => callOverHttp(app, "fail_later", {}, { headers: HEADERS }),
  stream: async (app: App) => (await callOverHttp(app, "numbers", {}, { headers: HEADERS })).text(),
  form: (app: App) => post(app, "/__web/form/fail"),
  "form of a page": (app: App) => post(app, "/users/7?__form=fail"),
  page: (app: App) => getPage(app, `/users/7?${SECRET_QUERY}`, { headers: HEADERS }),
  route: (app: App) => post(app, "/hooks/7", "text/plain"),
} as const;

describe("on_error", () => {
  it.each([
    ["call", { kind: "call", request: { method: "POST", name: "fail", path: "/__web/rpc/fail" } }],
    ["later call", { kind: "call", request: { method: "POST", name: "fail_later", path: "/__web/rpc/fail_later" } }],
    ["stream", { kind: "stream", request: { method: "POST", name: "numbers", path: "/__web/rpc/numbers" } }],
    ["form", { kind: "form", request: { method: "POST", name: "fail", path: "/__web/form/fail" } }],
    ["page", { kind: "page", request: { method: "GET", name: "/users/:id", path: "/users/7" } }],
    ["route", { kind: "route", request: { method: "POST", name: "/hooks/:id", path: "/hooks/7" } }],
  ] as const)("receives the error of a %s once, with the request and its id", async (sender, expected) => {
    const error = new RangeError("failed");
    const { app, reported } = failingApp(error);
    await SENDERS[sender](app);
    await expect.poll(() => reported).toEqual([{ error, details: { ...expected, id: "id-of-this-one" } }]);
    expect(JSON.stringify(reported)).not.toContain("hunter2");
  });

  it("receives the error of a form once and that of the page that shows it, each with the form", async () => {
    const { app, reported } = failingApp(new RangeError("failed"));
    await SENDERS["form of a page"](app);
    const request = { method: "POST", name: "fail", path: "/users/7" };
    // Both throw the same error here.
    await expect
      .poll(() => reported.map(({ details }) => details))
      .toEqual([{ kind: "form", request, id: "id-of-this-one" }]);
  });

  it("receives what `before` throws for live updates", async () => {
    const error = new Error("failed");
    const { app, reported } = failingApp(error, {
      before: () => {
        throw error;
      },
    });
    await getPage(app, "/__web/live?feed=secret", { headers: HEADERS });
    const request = { method: "GET", name: "/__web/live", path: "/__web/live" };
    await expect.poll(() => reported).toEqual([{ error, details: { kind: "live", request, id: "id-of-this-one" } }]);
  });

  it.each([
    ["call", (app: App) => callOverHttp(app, "start", {}, { headers: HEADERS }), "start"],
    ["stream", (app: App) => callOverHttp(app, "start_stream", {}, { headers: HEADERS }), "start_stream"],
    ["form", (app: App) => post(app, "/__web/form/start"), "start"],
    ["form of a page", (app: App) => post(app, "/start?__form=start"), "start"],
    ["page", (app: App) => getPage(app, "/start", { headers: HEADERS }), "/start"],
    ["route", (app: App) => getPage(app, "/start-route", { headers: HEADERS }), "/start-route"],
    ["route with a body", (app: App) => getPage(app, "/start-body", { headers: HEADERS }), "/start-body"],
  ] as const)(
    "receives what a %s has started and not awaited as background, with the request and its id",
    async (_, send, name) => {
      const error = new Error("failed");
      let fail: () => void = () => {};
      const failing = new Promise<void>((resolve) => {
        fail = resolve;
      });
      const reported: Reported[] = [];
      const start = () => {
        // As the handler of unhandled rejections does, in the context of the promise.
        void failing.then(() =>
          requireInternals(app, "the test").log.error({ err: error }, "Unhandled promise rejection"),
        );
      };
      const app = createTestApp(
        {
          start: compiledServer("start", start),
          start_stream: compiledServer(
            "start_stream",
            function* () {
              start();
              yield 1;
            },
            { stream: true },
          ),
          page: compiledPage("/start", () => {
            start();
            return "page";
          }),
          route: compiledRoute("GET /start-route", () => {
            start();
            return new Response(null);
          }),
          body: compiledRoute("GET /start-body", () => {
            start();
            return new Response("text");
          }),
        },
        { on_error: (received, details) => void reported.push({ error: received, details }) },
      );
      await (await send(app)).text();
      fail();
      await expect
        .poll(() => reported)
        .toMatchObject([{ error, details: { kind: "background", request: { name }, id: "id-of-this-one" } }]);
    },
  );

  it("receives what a stream throws while it is closed as that of the stream", async () => {
    const error = new Error("failed");
    const reported: Reported[] = [];
    const stream = compiledServer(
      "endless",
      function* () {
        try {
          for (;;) yield 1;
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: it is what is tested
          throw error;
        }
      },
      { stream: true },
    );
    const app = createTestApp(
      { endless: stream },
      { on_error: (received, details) => void reported.push({ error: received, details }) },
    );
    await (await callOverHttp(app, "endless", {}, { headers: HEADERS })).body?.cancel();
    await expect
      .poll(() => reported)
      .toMatchObject([{ error, details: { kind: "stream", request: { name: "endless" } } }]);
  });

  it("receives errors outside requests, and one that ends the process", async () => {
    const { app, reported } = failingApp(null);
    const { log, logCrash } = requireInternals(app, "the test");
    const details = { kind: "background", request: null, id: null };
    log.error({ err: "rejected" }, "Unhandled promise rejection");
    await expect.poll(() => reported).toEqual([{ error: "rejected", details }]);
    await logCrash("thrown");
    expect(reported[1]).toEqual({ error: "thrown", details });
  });

  it.each([new ValueError("No such size."), new RPCError("conflict", "Taken."), new RPCError("internal", "Not now.")])(
    "does not receive an expected error of a call, a stream, a form or a route: %s",
    async (error) => {
      const { app, reported } = failingApp(error);
      for (const sender of ["call", "later call", "stream", "form", "route"] as const) await SENDERS[sender](app);
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      expect(reported).toEqual([]);
      expect(printed.mock.calls.flat().join("\n")).not.toContain(String(error.stack));
    },
  );

  it("does not receive what a page throws for its user, nor a page that does not exist", async () => {
    const { app, reported } = failingApp(new NotFound());
    await SENDERS.page(app);
    await getPage(app, "/nothing");
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(reported).toEqual([]);
    const lines = printed.mock.calls.map(([line]) => String(line));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^The page \/users\/:id threw an expected error {2}id=id-of-this-one {2}code=not_found/);
  });

  it("is not awaited by the request, and what it throws is logged with the request id", async () => {
    for (const failure of ["thrown", "rejected"]) {
      printed.mockClear();
      const { app } = failingApp(new Error("failed"), {
        on_error: (): unknown => {
          const error = new Error(`The service is unreachable (${failure}).`);
          if (failure === "rejected") return Promise.reject(error);
          throw error;
        },
      });
      await SENDERS.call(app);
      const lines = () => printed.mock.calls.map(([line]) => String(line));
      await expect.poll(() => lines()).toContain("on_error of new App failed  id=id-of-this-one");
      expect(lines()).toContain(`Error: The service is unreachable (${failure}).`);
    }
    const { app } = failingApp(new Error("failed"), { on_error: () => new Promise(() => undefined) });
    expect((await SENDERS.call(app)).status).toBe(500);
  });

  it("must be a function", () => {
    const on_error = "https://errors.example" as never; // JavaScript code can pass any value
    expect(() => failingApp(null, { on_error })).toThrow("new App: on_error must be a function. It is of type string.");
  });
});
