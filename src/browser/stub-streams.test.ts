import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
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

describe("a stream", () => {
  test("yields its values and ends", async () => {
    const { stream } = await server.load();
    server.respond = respondWithLines({ chunk: 3 }, { chunk: null }, { chunk: { a: 1 } }, { done: true });
    expect(await collect(stream("countdown", ["from"])(3))).toEqual([3, null, { a: 1 }]);
    expect(server.calls[0]).toMatchObject({ url: "/app/__web/rpc/countdown", body: { args: { from: 3 } } });
  });

  test("sends named arguments, by named() and for a function with named parameters", async () => {
    const { stream } = await server.load();
    server.respond = respondWithLines({ done: true });
    await collect(stream("f", ["a"]).named({ a: 1 }));
    await collect(stream("f")({ b: 2 }));
    expect(server.calls.map((call) => call.body)).toEqual([{ args: { a: 1 } }, { args: { b: 2 } }]);
  });

  test("does not abort the request after the last line", async () => {
    const { stream, stub } = await server.load();
    server.respond = ({ response }) => response.writeHead(200).write('{"chunk":1}\n{"done":true}\n');
    expect(await collect(stream("f", [])())).toEqual([1]);
    server.respond = respondWithJson(200, { result: 1 });
    await stub("other", [])();
    const response = server.calls[0]?.response;
    expect(response?.destroyed).toBe(false);
    response?.end();
  });

  test("sends nothing before the first read", async () => {
    const { stream, stub } = await server.load();
    server.respond = respondWithLines({ done: true });
    const values = stream("f", [])();
    values[Symbol.asyncIterator]();
    server.respond = respondWithJson(200, { result: 1 });
    await stub("other", [])();
    expect(server.calls.map((call) => call.url)).toEqual(["/app/__web/rpc/other"]);
  });

  test("yields each value as it arrives", async () => {
    const { stream } = await server.load();
    const opened = new Promise<ReceivedCall>((resolve) => {
      server.respond = resolve;
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

  test("has its values without the spaces that the server sends while it has none", async () => {
    const { stream } = await server.load();
    server.respond = ({ response }) => {
      response.writeHead(200).write(" ");
      response.write('  {"chunk":1}\n ');
      response.end('{"chunk":" 2 "}\n  {"done":true}\n');
    };
    expect(await collect(stream("f", [])())).toEqual([1, " 2 "]);
  });

  test("throws an error after the values before it", async () => {
    const { stream } = await server.load();
    server.respond = respondWithLines(
      { chunk: 1 },
      { error: { code: "conflict", message: "No more.", details: { left: 2 } } },
    );
    const received: unknown[] = [];
    expect(await rejectionFieldsOf(collect(stream("f", [])(), received))).toMatchObject({
      code: "conflict",
      message: "No more.",
      details: { left: 2 },
    });
    expect(received).toEqual([1]);
  });

  test.each([
    ["without a last line", '{"chunk":1}\n'],
    ["while it has no value", '{"chunk":1}\n  '],
    ["in the middle of a line", '{"chunk":1}\n{"chu'],
    ["with something else", '{"chunk":1}\n<h1>proxy</h1>\n'],
  ])("that ends %s throws an error", async (_, text) => {
    const { stream } = await server.load();
    server.respond = ({ response }) => response.writeHead(200).end(text);
    const received: unknown[] = [];
    const failure = await rejectionFieldsOf(collect(stream("f", [])(), received));
    expect(failure).toMatchObject({ name: "RPCError", code: "internal", message: "f: the stream ended early" });
    expect(failure.cause).toBeInstanceOf(Error);
    expect(received).toEqual([1]);
  });

  test("whose connection breaks throws an error", async () => {
    const { stream } = await server.load();
    server.respond = ({ response }) => response.writeHead(200).write('{"chunk":1}\n', () => response.destroy());
    expect(await rejectionFieldsOf(collect(stream("f", [])()))).toMatchObject({
      code: "internal",
      message: "f: the stream ended early",
      cause: expect.objectContaining({ name: "TypeError" }),
    });
  });

  test("whose connection breaks while the page is being left, as in Firefox, throws its error only if the page stays", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const { stream, page } = await server.load();
      server.respond = ({ response }) => response.writeHead(200).write('{"chunk":1}\n', () => response.destroy());
      const values = stream("f", [])()[Symbol.asyncIterator]();
      await values.next();
      page.dispatchEvent(new Event("beforeunload"));
      let isSettled = false;
      const failure = rejectionFieldsOf(values.next()).finally(() => {
        isSettled = true;
      });
      await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1), { interval: 0 });
      await vi.advanceTimersByTimeAsync(9_999);
      expect(isSettled).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(await failure).toMatchObject({ message: "f: the stream ended early" });
    } finally {
      vi.useRealTimers();
    }
  });

  test("that is rejected throws the function's error", async () => {
    const { stream } = await server.load();
    server.respond = respondWithJson(401, { error: { code: "unauthenticated", message: "Sign in.", details: {} } });
    expect(await rejectionFieldsOf(collect(stream("f", [])()))).toMatchObject({
      code: "unauthenticated",
      message: "Sign in.",
    });
  });

  test("that receives the response of a proxy throws an error with the code of its status", async () => {
    const { stream } = await server.load();
    server.respond = ({ response }) => response.writeHead(504).end("<h1>proxy</h1>");
    expect(await rejectionFieldsOf(collect(stream("f", [])()))).toMatchObject({ code: "timeout" });
  });

  test("can be read once", async () => {
    const { stream } = await server.load();
    server.respond = respondWithLines({ done: true });
    const values = stream("f", [])();
    await collect(values);
    await expect(collect(values)).rejects.toThrow("A stream can be read once");
  });

  test("with too many arguments throws at the call", async () => {
    const { stream, RPCError } = await server.load();
    expect(() => stream("f", [])(1)).toThrow(RPCError);
  });
});

describe("leaving a stream", () => {
  const endless = ({ response }: ReceivedCall) =>
    response.writeHead(200).write('{"chunk":1}\n{"chunk":2}\n{"chunk":3}\n');

  test("by break aborts the request", async () => {
    const { stream } = await server.load();
    server.respond = endless;
    const received: unknown[] = [];
    for await (const value of stream("f", [])()) {
      received.push(value);
      if (value === 2) break;
    }
    await server.calls[0]?.aborted;
    expect(received).toEqual([1, 2]);
  });

  test("by a throw in the loop aborts the request and throws what was thrown", async () => {
    const { stream } = await server.load();
    server.respond = endless;
    const thrown = new Error("mine");
    const loop = async () => {
      for await (const _ of stream("f", [])()) throw thrown;
    };
    await expect(loop()).rejects.toBe(thrown);
    await server.calls[0]?.aborted;
  });

  test("by cancel() while a read is pending ends the loop without an error", async () => {
    const { stream } = await server.load();
    server.respond = endless;
    const values = stream("f", [])();
    const iterator = values[Symbol.asyncIterator]();
    for (let n = 1; n <= 3; n++) await iterator.next();
    const waiting = iterator.next();
    values.cancel();
    expect(await waiting).toEqual({ done: true, value: undefined });
    await server.calls[0]?.aborted;
  });

  test("by cancel() between reads yields nothing more, not even values that have arrived", async () => {
    const { stream } = await server.load();
    server.respond = endless;
    const values = stream("f", [])();
    const received: unknown[] = [];
    for await (const value of values) {
      received.push(value);
      values.cancel();
    }
    expect(received).toEqual([1]);
    await server.calls[0]?.aborted;
  });

  test("by cancel() before the response ends the loop without an error", async () => {
    const { stream } = await server.load();
    const opened = new Promise<ReceivedCall>((resolve) => {
      server.respond = resolve;
    });
    const values = stream("f", [])();
    const loop = collect(values);
    const call = await opened;
    values.cancel();
    expect(await loop).toEqual([]);
    await call.aborted;
  });

  test("by cancel() before the first read sends no request", async () => {
    const { stream } = await server.load();
    const values = stream("f", [])();
    values.cancel();
    expect(await collect(values)).toEqual([]);
    expect(server.calls).toEqual([]);
  });

  test("by cancel() after its end does nothing", async () => {
    const { stream } = await server.load();
    server.respond = respondWithLines({ chunk: 1 }, { done: true });
    const values = stream("f", [])();
    await collect(values);
    values.cancel();
    values.cancel();
    expect(server.calls.length).toBe(1);
  });
});
