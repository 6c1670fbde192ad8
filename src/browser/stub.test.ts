import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { collect } from "#test/collect";
import { type ReceivedCall, rejectionFieldsOf, respondWithJson, respondWithLines, StubServer } from "#test/stub-server";

let server: StubServer;

beforeAll(async () => {
  server = await StubServer.open();
});

beforeEach(() => {
  server.calls.length = 0;
});

afterAll(() => server.close());

describe("a call", () => {
  test("sends named arguments and returns the result", async () => {
    const { stub } = await server.load();
    server.respond = respondWithJson(200, { result: { ok: [1, null] } });
    expect(await stub("login", ["email", "password"])("a@b.c", "secret")).toEqual({ ok: [1, null] });
    expect(server.calls[0]).toMatchObject({
      url: "/app/__web/rpc/login",
      body: { args: { email: "a@b.c", password: "secret" } },
      headers: { "content-type": "application/json" },
    });
    expect(server.calls[0]?.headers).not.toHaveProperty("x-csrf-token");
  });

  test.each([
    [[1, undefined, 3], { a: 1, c: 3 }],
    [[1], { a: 1 }],
    [[], {}],
    [[null], { a: null }],
  ])("with the arguments %j sends %j", async (values, args) => {
    const { stub } = await server.load();
    server.respond = respondWithJson(200, { result: null });
    expect(await stub("f", ["a", "b", "c"])(...values)).toBeNull();
    expect(server.calls[0]?.body).toEqual({ args });
  });

  test("that is used as a text or a number before its result has arrived is an error", async () => {
    const { stub } = await server.load();
    server.respond = respondWithJson(200, { result: 1 });
    const sign = stub("sign", ["name"]);
    expect(() => `Signed: ${sign("Ada")}`).toThrow(
      "sign: the call is used as a text, but its result has not arrived yet. Await it: await sign(…).",
    );
    expect(() => String(sign("Ada"))).toThrow(TypeError);
    expect(() => Number(sign("Ada")) + 1).toThrow("is used as a number");
    const count = (await server.load()).stream("count", ["to"]);
    expect(() => String(count(3))).toThrow("It is a stream: for await (const value of count(…)) { … }.");
    const call = sign("Ada");
    expect([call === null, JSON.stringify(call), Object.keys(call)]).toEqual([false, "{}", ["cancel"]]);
    expect(await call).toBe(1);
  });

  test("by named() sends the arguments as they are", async () => {
    const { stub } = await server.load();
    server.respond = respondWithJson(200, { result: 1 });
    await stub("buy", ["item", "quantity"]).named({ quantity: 2, item: "apple" });
    expect(server.calls[0]?.body).toEqual({ args: { quantity: 2, item: "apple" } });
  });

  test.each([
    [[{ item: "apple" }], { item: "apple" }],
    [[], {}],
  ])("of a function with named parameters sends, for %j, %j", async (values, args) => {
    const { stub } = await server.load();
    server.respond = respondWithJson(200, { result: 1 });
    await stub("buy")(...values);
    expect(server.calls[0]?.body).toEqual({ args });
  });

  test("can have a parameter named __proto__", async () => {
    const { stub } = await server.load();
    server.respond = respondWithJson(200, { result: 1 });
    await stub("f", ["__proto__"])(1);
    expect(JSON.stringify(server.calls[0]?.body)).toBe('{"args":{"__proto__":1}}');
  });

  test.each([false, 0, "", null, []])("returns the result %j", async (result) => {
    const { stub } = await server.load();
    server.respond = respondWithJson(200, { result });
    expect(await stub("f", [])()).toEqual(result);
  });
});

describe("a cancelled call", () => {
  /** Loads a stub whose call the server has received and not answered. */
  const openCall = async () => {
    const { stub } = await server.load();
    const received = new Promise<ReceivedCall>((resolve) => {
      server.respond = resolve;
    });
    return { call: stub("search", ["text"])("te"), received: await received };
  };

  test("rejects with an AbortError and closes the request", async () => {
    const { call, received } = await openCall();
    call.cancel();
    await expect(call).rejects.toMatchObject({ name: "AbortError", code: DOMException.ABORT_ERR });
    await received.aborted;
  });

  test("with a file rejects and closes the request too", async () => {
    const { stub, upload } = await server.load();
    const received = new Promise<ReceivedCall>((resolve) => {
      server.respond = resolve;
    });
    const call = stub("keep", ["file"], undefined, upload)(new File(["content"], "note.txt"));
    const { url, body, aborted } = await received;
    expect([url, body]).toEqual(["/app/__web/form/keep", expect.stringContaining("content")]);
    call.cancel();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    await aborted;
  });

  test("rejects while the body of its response arrives", async () => {
    const { call, received } = await openCall();
    received.response.writeHead(200, { "content-type": "application/json" }).write('{"result":');
    await new Promise((resolve) => received.response.write(" ", resolve));
    call.cancel();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    await received.aborted;
  });

  test("by named() rejects too", async () => {
    const { stub } = await server.load();
    const call = stub("search", ["text"]).named({ text: "te" });
    call.cancel();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
  });

  test("sends nothing if it is cancelled at once", async () => {
    const { stub } = await server.load();
    server.respond = respondWithJson(200, { result: 1 });
    stub("search", ["text"])("te").cancel();
    await stub("other", [])();
    expect(server.calls.map((call) => call.url)).toEqual(["/app/__web/rpc/other"]);
  });

  test("rejects if its result arrives at the moment of the cancellation", async () => {
    const { stub } = await server.load();
    const response = Response.json({ result: 1 });
    vi.stubGlobal("fetch", async () => response);
    const call = stub("search", ["text"])("te");
    vi.unstubAllGlobals();
    vi.spyOn(response, "json").mockImplementation(async () => {
      call.cancel();
      return { result: 1 };
    });
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
  });

  test("does not change a result that has arrived", async () => {
    const { stub } = await server.load();
    server.respond = respondWithJson(200, { result: 1 });
    const call = stub("search", ["text"])("te");
    await call;
    call.cancel();
    expect(await call).toBe(1);
  });
});

describe("an error of the function", () => {
  test("is an RPCError with the same code, message and details", async () => {
    const { stub, RPCError } = await server.load();
    server.respond = respondWithJson(409, {
      error: { code: "conflict", message: "Taken.", details: { field: "email" } },
    });
    const call = stub("register", [])();
    await expect(call).rejects.toBeInstanceOf(RPCError);
    expect(await rejectionFieldsOf(call)).toMatchObject({
      code: "conflict",
      message: "Taken.",
      details: { field: "email" },
    });
  });

  test("with an unknown code is internal", async () => {
    const { stub } = await server.load();
    server.respond = respondWithJson(418, { error: { code: "teapot", message: "Short and stout.", details: {} } });
    expect(await rejectionFieldsOf(stub("f", [])())).toMatchObject({ code: "internal", message: "Short and stout." });
  });
});

describe("a response that is not the application's", () => {
  test.each([
    [502, "internal"],
    [503, "internal"],
    [504, "timeout"],
    [429, "rate_limited"],
    [413, "validation_error"],
    [401, "unauthenticated"],
    [403, "forbidden"],
    [404, "not_found"],
    [200, "internal"],
  ])("with the status %i is the error %s", async (status, code) => {
    const { stub } = await server.load();
    server.respond = ({ response }) =>
      response.writeHead(status, { "content-type": "text/html" }).end("<h1>proxy</h1>");
    expect(await rejectionFieldsOf(stub("f", [])())).toEqual({
      name: "RPCError",
      code,
      message: `f: unexpected response (${status})`,
      details: {},
      cause: expect.objectContaining({ name: "SyntaxError" }),
    });
  });

  test.each([null, 1, "text", [], {}, { results: 1 }])("with the JSON %j is an internal error", async (body) => {
    const { stub } = await server.load();
    server.respond = respondWithJson(200, body);
    expect(await rejectionFieldsOf(stub("f", [])())).toMatchObject({
      code: "internal",
      message: "f: unexpected response (200)",
    });
  });

  test("with a result and an error status is an internal error", async () => {
    const { stub } = await server.load();
    server.respond = respondWithJson(500, { result: 1 });
    expect(await rejectionFieldsOf(stub("f", [])())).toMatchObject({ code: "internal" });
  });

  test("is missing if the server is unreachable: an error with the cause", async () => {
    const { stub } = await server.load({ base: "http://127.0.0.1:1" });
    expect(await rejectionFieldsOf(stub("f", [])())).toEqual({
      name: "RPCError",
      code: "internal",
      message: "f: server unreachable",
      details: {},
      cause: expect.objectContaining({ name: "TypeError" }),
    });
  });

  test("ends while the page is being left, as in Firefox: an error only if the page stays", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { stub, page } = await server.load();
    const fetching = vi.spyOn(globalThis, "fetch");
    onTestFinished(() => fetching.mockRestore());
    const received = new Promise<ReceivedCall>((resolve) => {
      server.respond = resolve;
    });
    let isSettled = false;
    const failure = rejectionFieldsOf(stub("f", [])()).finally(() => {
      isSettled = true;
    });
    const { response } = await received;
    page.dispatchEvent(new Event("beforeunload"));
    response.destroy();
    await expect(fetching.mock.results[0]?.value).rejects.toThrow(TypeError);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(isSettled).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await failure).toMatchObject({ message: "f: server unreachable" });
  });
});

describe("the CSRF token", () => {
  const forbiddenBody = { error: { code: "forbidden", message: "Reload the page.", details: {} } };
  const sentTokens = () => server.calls.map((call) => call.headers["x-csrf-token"]);

  test("is sent with each call, and replaced by a fresh one from a response", async () => {
    const { stub } = await server.load({ token: "t1" });
    server.respond = respondWithJson(200, { result: 1 }, { "x-csrf-token": "t2" });
    await stub("f", [])();
    server.respond = respondWithJson(200, { result: 1 });
    await stub("f", [])();
    await stub("f", [])();
    expect(sentTokens()).toEqual(["t1", "t2", "t2"]);
  });

  test("that is stale is replaced, and the call is sent once more", async () => {
    const { stub } = await server.load({ token: "old" });
    server.respond = (call) =>
      call.headers["x-csrf-token"] === "new"
        ? respondWithJson(200, { result: "done" })(call)
        : respondWithJson(403, forbiddenBody, { "x-csrf-token": "new" })(call);
    expect(await stub("f", ["a"])(1)).toBe("done");
    expect(sentTokens()).toEqual(["old", "new"]);
    expect(server.calls[1]?.body).toEqual({ args: { a: 1 } });
  });

  test("that is rejected again is an error, not a loop", async () => {
    const { stub } = await server.load({ token: "old" });
    server.respond = (call) =>
      respondWithJson(403, forbiddenBody, { "x-csrf-token": `new${server.calls.length}` })(call);
    expect(await rejectionFieldsOf(stub("f", [])())).toMatchObject({ code: "forbidden", message: "Reload the page." });
    expect(server.calls.length).toBe(2);
  });

  test("is the reason for a retry only with 403 and a fresh token", async () => {
    const { stub } = await server.load({ token: "old" });
    server.respond = respondWithJson(403, forbiddenBody);
    await rejectionFieldsOf(stub("f", [])());
    server.respond = respondWithJson(
      409,
      { error: { code: "conflict", message: "", details: {} } },
      { "x-csrf-token": "new" },
    );
    await rejectionFieldsOf(stub("f", [])());
    expect(server.calls.length).toBe(2);
  });

  test("is sent with streams", async () => {
    const { stream } = await server.load({ token: "old" });
    server.respond = (call) =>
      call.headers["x-csrf-token"] === "new"
        ? respondWithLines({ chunk: 1 }, { done: true })(call)
        : respondWithJson(403, forbiddenBody, { "x-csrf-token": "new" })(call);
    expect(await collect(stream("f", [])())).toEqual([1]);
    expect(sentTokens()).toEqual(["old", "new"]);
  });
});

/** Replaces the location of the page, and returns the navigations that are started. */
function recordNavigation(href: string): string[] {
  const navigations: string[] = [];
  const location = {
    href,
    origin: new URL(href).origin,
    assign(target: string) {
      const url = new URL(target, href);
      navigations.push(`assign ${url}`);
      // A URL that differs in its fragment only is reached at once; the request of any other takes time.
      if (url.hash && url.href.split("#")[0] === location.href.split("#")[0]) location.href = url.href;
    },
    reload: () => void navigations.push("reload"),
  };
  vi.stubGlobal("location", location);
  onTestFinished(() => void vi.unstubAllGlobals());
  return navigations;
}

describe("a call that redirects", () => {
  test.each([
    ["/app/account?a=b", ["assign http://shop.example/app/account?a=b"]],
    ["https://id.example/x", ["assign https://id.example/x"]],
    ["http://id.example/x", ["assign http://id.example/x"]],
    ["/app/board", ["assign http://shop.example/app/board", "reload"]],
    ["/app/board#card", ["assign http://shop.example/app/board#card", "reload"]],
    ["/app/other#card", ["assign http://shop.example/app/other#card"]],
  ])("opens %s and resolves with null", async (target, navigations) => {
    const { stub } = await server.load();
    const started = recordNavigation("http://shop.example/app/board");
    server.respond = respondWithJson(200, { result: null }, { "x-redirect": target });
    expect(await stub("save", [])()).toBeNull();
    expect(started).toEqual(navigations);
  });

  test.each([
    "javascript:alert(1)",
    "data:text/html,x",
    "blob:http://shop.example/1",
    "mailto:a@b.c",
    "file:///etc",
    " javascript:alert(1)",
  ])("does not open a URL that is not http or https: %s [SITE-33]", async (target) => {
    const { stub } = await server.load();
    const started = recordNavigation("http://shop.example/app/board");
    server.respond = respondWithJson(200, { result: null }, { "x-redirect": target });
    expect(await stub("save", [])()).toBeNull();
    expect(started).toEqual([]);
  });

  test("stores the fresh CSRF token first", async () => {
    const { stub } = await server.load({ token: "old" });
    recordNavigation("http://shop.example/app/board");
    server.respond = respondWithJson(200, { result: null }, { "x-redirect": "/app/account", "x-csrf-token": "new" });
    await stub("sign_in", [])();
    await stub("next", [])();
    expect(server.calls.at(-1)?.headers["x-csrf-token"]).toBe("new");
  });

  test("as a stream opens the URL, and the loop ends without a value", async () => {
    const { stream } = await server.load();
    const started = recordNavigation("http://shop.example/app/board");
    server.respond = ({ response }) => {
      response.writeHead(200, { "content-type": "application/x-ndjson", "x-redirect": "/app/account" });
      response.end('{"done":true}\n');
    };
    expect(await collect(stream("watch", [])())).toEqual([]);
    expect(started).toEqual(["assign http://shop.example/app/account"]);
  });
});
