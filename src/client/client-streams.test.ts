import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { collect } from "#test/collect";
import { listen } from "#test/listen";
import { type Functions, rejectionOf, Shop } from "#test/shop";
import { client, RPCError, type Stream } from "./index.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
beforeEach(() => shop.reset());
afterAll(() => shop.close());

describe("a stream of a client", () => {
  it("yields the function's values, called by position and by name", async () => {
    const api = client<Functions>(shop.address);
    expect(await collect(api.countdown(3))).toEqual([3, 2, 1]);
    expect(await collect(api.countdown.named({ from: "2" }))).toEqual([2, 1]);
    expect(shop.requests).toEqual(["GET countdown", "POST countdown", "POST countdown"]);
  });

  it("sends nothing before its first read", async () => {
    const api = client<Functions>(shop.address);
    const [byPosition, byName] = [api.countdown(2), api.countdown.named({ from: 1 })];
    // By then the server has handled another call.
    await expect.poll(() => shop.requests).toEqual(["GET countdown"]);
    expect(await api.whoami()).toBeNull();
    expect(shop.calls).toEqual([]);
    expect(await collect(byPosition)).toEqual([2, 1]);
    expect(await collect(byName)).toEqual([1]);
  });

  it("throws the error of an argument that would not arrive as it is, and sends nothing", async () => {
    const error = new TypeError("countdown: from: NaN cannot be sent. Check the number first, or pass null.");
    const api = client<Functions>(shop.address);
    await expect(collect(api.countdown(Number.NaN))).rejects.toThrow(error);
    await expect(collect(api.countdown.named({ from: Number.NaN }))).rejects.toThrow(error);
    expect(shop.calls).toEqual([]);
  });

  it("throws the function's error after the values before it", async () => {
    const values: number[] = [];
    const error = await rejectionOf(
      (async () => {
        for await (const n of client<Functions>(shop.address).countdown(13)) values.push(n);
      })(),
    );
    expect(values).toHaveLength(13);
    expect(error).toMatchObject({ code: "conflict", message: "Not thirteen.", details: { n: 13 } });
  });

  it("throws at its first read if the call is rejected", async () => {
    const error = await rejectionOf(collect(client<Functions>(shop.address).countdown.named({ from: "three" })));
    expect(error).toMatchObject({ code: "validation_error", details: { parameter: "from" } });
  });

  it("ends on the server when the loop is left", async () => {
    for await (const n of client<Functions>(shop.address).slow()) {
      expect(n).toBe(1);
      break;
    }
    await expect.poll(() => shop.endedStreams).toBe(1);
  });

  it("ends without an error when it is cancelled, and ends on the server", async () => {
    const stream: Stream<number> = client<Functions>(shop.address).slow();
    const values: number[] = [];
    for await (const n of stream) {
      values.push(n);
      stream.cancel();
    }
    expect(values).toEqual([1]);
    await expect.poll(() => shop.endedStreams).toBe(1);
  });

  it("is not sent if it is cancelled before it is read", async () => {
    const stream = client<Functions>(shop.address).countdown(3);
    stream.cancel();
    expect(await collect(stream)).toEqual([]);
    expect(shop.requests).toEqual([]);
  });

  it("throws internal with a cause if the connection is lost", async () => {
    const cut = await listen((_, response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write('{"chunk":1}\n', () => response.destroy());
    });
    const values: number[] = [];
    const error = await rejectionOf(
      (async () => {
        for await (const n of client<Functions>(cut.address).countdown.named({ from: 2 })) values.push(n);
      })(),
    );
    expect(values).toEqual([1]);
    expect(error).toBeInstanceOf(RPCError);
    expect(error).toMatchObject({ code: "internal", cause: expect.any(TypeError) });
    await cut.close();
  });

  it("throws when the client's signal aborts, and ends on the server", async () => {
    const stop = new AbortController();
    const stream = client<Functions>(shop.address, { signal: stop.signal }).slow();
    const reading = stream[Symbol.asyncIterator]();
    expect(await reading.next()).toEqual({ done: false, value: 1 });
    stop.abort();
    expect(await rejectionOf(reading.next())).toMatchObject({ code: "internal" });
    await expect.poll(() => shop.endedStreams).toBe(1);
  });

  it("can be read once", async () => {
    const stream = client<Functions>(shop.address).countdown(1);
    await collect(stream);
    await expect(collect(stream)).rejects.toThrow("A stream can be read once");
  });

  it("can be returned from an async function", async () => {
    const open = async () => client<Functions>(shop.address).countdown(2);
    expect(await collect(await open())).toEqual([2, 1]);
    expect(shop.calls).toHaveLength(1);
  });

  it("throws if the function returns one result", async () => {
    // A type error in TypeScript, but not in JavaScript.
    const call = Reflect.apply(client<Functions>(shop.address).whoami, undefined, []) as unknown as Stream<never>;
    expect(await rejectionOf(collect(call))).toMatchObject({
      code: "internal",
      message: expect.stringContaining("not a stream. Use await"),
    });
  });
});
