import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { RPCError } from "../errors.ts";

interface Call {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
  readonly response: ServerResponse;
  /** Resolves when the caller gave up before the answer was complete. */
  readonly aborted: Promise<void>;
}

let server: Server;
let base: string;
let calls: Call[];
let answer: (call: Call) => void;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // of a request, they are
    const aborted = new Promise<void>((resolve) => response.once("close", () => response.writableEnded || resolve()));
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const call = { url: request.url ?? "", headers: request.headers, body, response, aborted };
    calls.push(call);
    answer(call);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/app`; // a port was listened to
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  calls = [];
});

/** Loads the stubs as on a fresh page. */
async function load({ token, at = base }: { token?: string; at?: string } = {}) {
  vi.resetModules();
  vi.stubGlobal("document", {
    querySelector: (selector: string) =>
      selector === "script#tsweb"
        ? { textContent: JSON.stringify({ base: at, views: [] }) }
        : selector === 'meta[name="csrf-token"]' && token !== undefined
          ? { content: token }
          : null,
  });
  const module = await import("./stub.ts");
  const { RPCError: Fresh } = await import("../errors.ts");
  return { ...module, RPCError: Fresh };
}

function json(status: number, body: unknown, headers: Record<string, string> = {}) {
  return ({ response }: Call) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };
}

function lines(...given: unknown[]) {
  return ({ response }: Call) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.end(given.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };
}

/** Gives what a call failed with, as something to compare. */
async function failureOf(promise: Promise<unknown>) {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const { name, code, message, details, cause } = error as RPCError; // what is missing is undefined, and no match
  return { name, code, message, details, cause };
}

async function collect(values: AsyncIterable<unknown>, into: unknown[] = []): Promise<unknown[]> {
  for await (const value of values) into.push(value);
  return into;
}

describe("a call", () => {
  test("names its arguments and gives the result", async () => {
    const { stub } = await load();
    answer = json(200, { result: { ok: [1, null] } });
    expect(await stub("login", ["email", "password"])("a@b.c", "secret")).toEqual({ ok: [1, null] });
    expect(calls[0]).toMatchObject({
      url: "/app/__web/rpc/login",
      body: { args: { email: "a@b.c", password: "secret" } },
      headers: { "content-type": "application/json" },
    });
    expect(calls[0]?.headers).not.toHaveProperty("x-csrf-token");
  });

  test.each([
    [[1, undefined, 3], { a: 1, c: 3 }],
    [[1], { a: 1 }],
    [[], {}],
    [[null], { a: null }],
  ])("with %j sends %j", async (values, args) => {
    const { stub } = await load();
    answer = json(200, { result: null });
    expect(await stub("f", ["a", "b", "c"])(...values)).toBeNull();
    expect(calls[0]?.body).toEqual({ args });
  });

  test("by names", async () => {
    const { stub } = await load();
    answer = json(200, { result: 1 });
    await stub("buy", ["item", "quantity"]).named({ quantity: 2, item: "apple" });
    expect(calls[0]?.body).toEqual({ args: { quantity: 2, item: "apple" } });
  });

  test.each([
    [[{ item: "apple" }], { item: "apple" }],
    [[], {}],
  ])("of a keyed function with %j sends %j", async (values, args) => {
    const { stub } = await load();
    answer = json(200, { result: 1 });
    await stub("buy")(...values);
    expect(calls[0]?.body).toEqual({ args });
  });

  test("a parameter named __proto__ is a name like any other", async () => {
    const { stub } = await load();
    answer = json(200, { result: 1 });
    await stub("f", ["__proto__"])(1);
    expect(JSON.stringify(calls[0]?.body)).toBe('{"args":{"__proto__":1}}');
  });

  test.each([
    [["a"], [1, 2], "f takes 1 arguments, not 2"],
    [[], ["event"], "f takes 0 arguments, not 1"],
    [undefined, [{}, {}], "f takes 1 arguments, not 2"],
  ])("with too many arguments rejects and sends nothing", async (params, values, message) => {
    const { stub } = await load();
    expect(await failureOf(stub("f", params)(...values))).toMatchObject({ code: "validation_error", message });
    expect(calls).toEqual([]);
  });

  test.each([false, 0, "", null, []])("the result %j is a result", async (result) => {
    const { stub } = await load();
    answer = json(200, { result });
    expect(await stub("f", [])()).toEqual(result);
  });
});

describe("an error of the function", () => {
  test("is an RPCError with its code, message and details", async () => {
    const { stub, RPCError } = await load();
    answer = json(409, { error: { code: "conflict", message: "Taken.", details: { field: "email" } } });
    const call = stub("register", [])();
    await expect(call).rejects.toBeInstanceOf(RPCError);
    expect(await failureOf(call)).toMatchObject({ code: "conflict", message: "Taken.", details: { field: "email" } });
  });

  test("with a code that this page does not know is internal", async () => {
    const { stub } = await load();
    answer = json(418, { error: { code: "teapot", message: "Short and stout.", details: {} } });
    expect(await failureOf(stub("f", [])())).toMatchObject({ code: "internal", message: "Short and stout." });
  });
});

describe("an answer that is not the application's", () => {
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
  ])("%i is %s", async (status, code) => {
    const { stub } = await load();
    answer = ({ response }) => response.writeHead(status, { "content-type": "text/html" }).end("<h1>proxy</h1>");
    expect(await failureOf(stub("f", [])())).toEqual({
      name: "RPCError",
      code,
      message: `f: something else answered, with ${status}`,
      details: {},
      cause: expect.objectContaining({ name: "SyntaxError" }),
    });
  });

  test.each([null, 1, "text", [], {}, { results: 1 }])("JSON of another kind: %j", async (body) => {
    const { stub } = await load();
    answer = json(200, body);
    expect(await failureOf(stub("f", [])())).toMatchObject({
      code: "internal",
      message: "f: something else answered, with 200",
    });
  });

  test("a result with the status of an error is none", async () => {
    const { stub } = await load();
    answer = json(500, { result: 1 });
    expect(await failureOf(stub("f", [])())).toMatchObject({ code: "internal" });
  });

  test("none at all says that the server could not be reached, and keeps the cause", async () => {
    const { stub } = await load({ at: "http://127.0.0.1:1" });
    expect(await failureOf(stub("f", [])())).toEqual({
      name: "RPCError",
      code: "internal",
      message: "f: the server could not be reached",
      details: {},
      cause: expect.objectContaining({ name: "TypeError" }),
    });
  });
});

describe("the CSRF token", () => {
  const refused = { error: { code: "forbidden", message: "Reload the page.", details: {} } };
  const sent = () => calls.map((call) => call.headers["x-csrf-token"]);

  test("of the page goes with each call, and a fresh one takes its place", async () => {
    const { stub } = await load({ token: "t1" });
    answer = json(200, { result: 1 }, { "x-csrf-token": "t2" });
    await stub("f", [])();
    answer = json(200, { result: 1 });
    await stub("f", [])();
    await stub("f", [])();
    expect(sent()).toEqual(["t1", "t2", "t2"]);
  });

  test("that is stale is tried once more with the fresh one", async () => {
    const { stub } = await load({ token: "old" });
    answer = (call) =>
      call.headers["x-csrf-token"] === "new"
        ? json(200, { result: "done" })(call)
        : json(403, refused, { "x-csrf-token": "new" })(call);
    expect(await stub("f", ["a"])(1)).toBe("done");
    expect(sent()).toEqual(["old", "new"]);
    expect(calls[1]?.body).toEqual({ args: { a: 1 } });
  });

  test("that is refused again is an error, not a loop", async () => {
    const { stub } = await load({ token: "old" });
    answer = (call) => json(403, refused, { "x-csrf-token": `new${calls.length}` })(call);
    expect(await failureOf(stub("f", [])())).toMatchObject({ code: "forbidden", message: "Reload the page." });
    expect(calls.length).toBe(2);
  });

  test("a 403 without a fresh one is final; so is another status with one", async () => {
    const { stub } = await load({ token: "old" });
    answer = json(403, refused);
    await failureOf(stub("f", [])());
    answer = json(409, { error: { code: "conflict", message: "", details: {} } }, { "x-csrf-token": "new" });
    await failureOf(stub("f", [])());
    expect(calls.length).toBe(2);
  });

  test("goes with streams too", async () => {
    const { stream } = await load({ token: "old" });
    answer = (call) =>
      call.headers["x-csrf-token"] === "new"
        ? lines({ chunk: 1 }, { done: true })(call)
        : json(403, refused, { "x-csrf-token": "new" })(call);
    expect(await collect(stream("f", [])())).toEqual([1]);
    expect(sent()).toEqual(["old", "new"]);
  });
});

describe("a stream", () => {
  test("gives its values and ends", async () => {
    const { stream } = await load();
    answer = lines({ chunk: 3 }, { chunk: null }, { chunk: { a: 1 } }, { done: true });
    expect(await collect(stream("countdown", ["from"])(3))).toEqual([3, null, { a: 1 }]);
    expect(calls[0]).toMatchObject({ url: "/app/__web/rpc/countdown", body: { args: { from: 3 } } });
  });

  test("by names, and keyed", async () => {
    const { stream } = await load();
    answer = lines({ done: true });
    await collect(stream("f", ["a"]).named({ a: 1 }));
    await collect(stream("f")({ b: 2 }));
    expect(calls.map((call) => call.body)).toEqual([{ args: { a: 1 } }, { args: { b: 2 } }]);
  });

  test("leaves the connection alone after the last line: other calls may use it", async () => {
    const { stream, stub } = await load();
    answer = ({ response }) => response.writeHead(200).write('{"chunk":1}\n{"done":true}\n');
    expect(await collect(stream("f", [])())).toEqual([1]);
    answer = json(200, { result: 1 });
    await stub("other", [])();
    const response = calls[0]?.response;
    expect(response?.destroyed).toBe(false);
    response?.end();
  });

  test("sends nothing before the first read", async () => {
    const { stream, stub } = await load();
    answer = lines({ done: true });
    const values = stream("f", [])();
    values[Symbol.asyncIterator]();
    answer = json(200, { result: 1 });
    await stub("other", [])();
    expect(calls.map((call) => call.url)).toEqual(["/app/__web/rpc/other"]);
  });

  test("gives each value as it comes", async () => {
    const { stream } = await load();
    const opened = new Promise<Call>((resolve) => {
      answer = resolve;
    });
    const values = stream("f", [])()[Symbol.asyncIterator]();
    const first = values.next();
    const { response } = await opened;
    response.writeHead(200).write('{"chunk":"é');
    response.write('"}\n{"chunk":2}\n{"ch');
    expect(await first).toEqual({ done: false, value: "é" });
    expect(await values.next()).toEqual({ done: false, value: 2 });
    const third = values.next();
    response.end('unk":3}\n{"done":true}\n');
    expect(await third).toEqual({ done: false, value: 3 });
    expect(await values.next()).toEqual({ done: true, value: undefined });
  });

  test("raises an error after the values that came before it", async () => {
    const { stream } = await load();
    answer = lines({ chunk: 1 }, { error: { code: "conflict", message: "No more.", details: { left: 2 } } });
    const got: unknown[] = [];
    expect(await failureOf(collect(stream("f", [])(), got))).toMatchObject({
      code: "conflict",
      message: "No more.",
      details: { left: 2 },
    });
    expect(got).toEqual([1]);
  });

  test.each([
    ["without a last line", '{"chunk":1}\n'],
    ["in the middle of a line", '{"chunk":1}\n{"chu'],
    ["with something else", '{"chunk":1}\n<h1>proxy</h1>\n'],
  ])("that ends %s is an error", async (_, text) => {
    const { stream } = await load();
    answer = ({ response }) => response.writeHead(200).end(text);
    const got: unknown[] = [];
    const failure = await failureOf(collect(stream("f", [])(), got));
    expect(failure).toMatchObject({ name: "RPCError", code: "internal", message: "f: the stream ended early" });
    expect(failure.cause).toBeInstanceOf(Error);
    expect(got).toEqual([1]);
  });

  test("whose connection breaks is an error", async () => {
    const { stream } = await load();
    answer = ({ response }) => response.writeHead(200).write('{"chunk":1}\n', () => response.destroy());
    expect(await failureOf(collect(stream("f", [])()))).toMatchObject({
      code: "internal",
      message: "f: the stream ended early",
      cause: expect.objectContaining({ name: "TypeError" }),
    });
  });

  test("refused before it began is the function's error", async () => {
    const { stream } = await load();
    answer = json(401, { error: { code: "unauthenticated", message: "Sign in.", details: {} } });
    expect(await failureOf(collect(stream("f", [])()))).toMatchObject({ code: "unauthenticated", message: "Sign in." });
  });

  test("that a proxy answered is an error by its status", async () => {
    const { stream } = await load();
    answer = ({ response }) => response.writeHead(504).end("<h1>proxy</h1>");
    expect(await failureOf(collect(stream("f", [])()))).toMatchObject({ code: "timeout" });
  });

  test("is read once", async () => {
    const { stream } = await load();
    answer = lines({ done: true });
    const values = stream("f", [])();
    await collect(values);
    await expect(collect(values)).rejects.toThrow("A stream can be read once");
  });

  test("with too many arguments throws at once", async () => {
    const { stream, RPCError } = await load();
    expect(() => stream("f", [])(1)).toThrow(RPCError);
  });
});

describe("leaving a stream", () => {
  const endless = ({ response }: Call) => response.writeHead(200).write('{"chunk":1}\n{"chunk":2}\n{"chunk":3}\n');

  test("by break aborts the request", async () => {
    const { stream } = await load();
    answer = endless;
    const got: unknown[] = [];
    for await (const value of stream("f", [])()) {
      got.push(value);
      if (value === 2) break;
    }
    await calls[0]?.aborted;
    expect(got).toEqual([1, 2]);
  });

  test("by a throw in the loop aborts the request and throws what was thrown", async () => {
    const { stream } = await load();
    answer = endless;
    const thrown = new Error("mine");
    const loop = async () => {
      for await (const _ of stream("f", [])()) throw thrown;
    };
    await expect(loop()).rejects.toBe(thrown);
    await calls[0]?.aborted;
  });

  test("by cancel() while a read waits ends the loop without an error", async () => {
    const { stream } = await load();
    answer = endless;
    const values = stream("f", [])();
    const iterator = values[Symbol.asyncIterator]();
    for (let n = 1; n <= 3; n++) await iterator.next();
    const waiting = iterator.next();
    values.cancel();
    expect(await waiting).toEqual({ done: true, value: undefined });
    await calls[0]?.aborted;
  });

  test("by cancel() between reads gives nothing more, not even what has come already", async () => {
    const { stream } = await load();
    answer = endless;
    const values = stream("f", [])();
    const got: unknown[] = [];
    for await (const value of values) {
      got.push(value);
      values.cancel();
    }
    expect(got).toEqual([1]);
    await calls[0]?.aborted;
  });

  test("by cancel() before the answer ends the loop without an error", async () => {
    const { stream } = await load();
    const opened = new Promise<Call>((resolve) => {
      answer = resolve;
    });
    const values = stream("f", [])();
    const loop = collect(values);
    const call = await opened;
    values.cancel();
    expect(await loop).toEqual([]);
    await call.aborted;
  });

  test("by cancel() before the first read sends nothing at all", async () => {
    const { stream } = await load();
    const values = stream("f", [])();
    values.cancel();
    expect(await collect(values)).toEqual([]);
    expect(calls).toEqual([]);
  });

  test("after its end, or twice, does nothing", async () => {
    const { stream } = await load();
    answer = lines({ chunk: 1 }, { done: true });
    const values = stream("f", [])();
    await collect(values);
    values.cancel();
    values.cancel();
    expect(calls.length).toBe(1);
  });
});
