import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { collect } from "#test/collect";
import { rejectionFieldsOf, respondWithJson, respondWithLines, StubServer } from "#test/stub-server";

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

  test.each([
    [["a"], [1, 2], "f: too many arguments: 2, at most 1"],
    [[], ["event"], "f: too many arguments: 1, at most 0"],
    [undefined, [{}, {}], "f: too many arguments: 2, at most 1"],
  ])("with too many arguments rejects and sends nothing", async (params, values, message) => {
    const { stub } = await server.load();
    expect(await rejectionFieldsOf(stub("f", params)(...values))).toMatchObject({ code: "validation_error", message });
    expect(server.calls).toEqual([]);
  });

  test.each([false, 0, "", null, []])("returns the result %j", async (result) => {
    const { stub } = await server.load();
    server.respond = respondWithJson(200, { result });
    expect(await stub("f", [])()).toEqual(result);
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
