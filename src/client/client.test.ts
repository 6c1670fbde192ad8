import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import { type Functions, functions, rejectionOf, Shop } from "#test/shop";
import { client, RPCError, type Stream } from "./index.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
beforeEach(() => shop.reset());
afterAll(() => shop.close());

describe("a call of a client", () => {
  it("resolves with the result, called by position", async () => {
    expect(await client<Functions>(shop.address).add(1, 2)).toBe(3);
    expect(shop.requests).toEqual(["GET add", "POST add"]);
  });

  it("requests the parameter names of a function once", async () => {
    const api = client<Functions>(`${shop.address}/`);
    expect(await Promise.all([api.add(1), api.add(2, 3), api.add(3)])).toEqual([11, 5, 13]);
    expect(await api.add(4)).toBe(14);
    expect(shop.requests.filter((line) => line.startsWith("GET"))).toEqual(["GET add"]);
  });

  it("requests no parameter names, called by name or without arguments", async () => {
    const api = client<Functions>(shop.address);
    expect(await api.add.named({ b: 2, a: 1 })).toBe(3);
    expect(await api.whoami()).toBeNull();
    expect(shop.requests).toEqual(["POST add", "POST whoami"]);
  });

  it("passes one object to a keyed function", async () => {
    const api = client<Functions>(shop.address);
    expect(await api.order({ item: "tea" })).toEqual({ item: "tea", quantity: 1 });
    expect(await api.order.named({ item: "tea", quantity: 2 })).toEqual({ item: "tea", quantity: 2 });
  });

  it("runs an idempotent function once for a key, and each time without one", async () => {
    const { pay } = client<Functions>(shop.address);
    const key = crypto.randomUUID();
    expect([await pay.named({ amount: 5 }, { key }), await pay.named({ amount: 5 }, { key })]).toEqual([1, 1]);
    expect(await pay.named({ amount: 6 }, { key })).toBe(2);
    expect(await pay.named({ amount: 5 })).toBe(3);
    expect(await rejectionOf(pay.named({ amount: 5 }, { key: "short" }))).toMatchObject({ code: "validation_error" });
  });

  it("omits undefined arguments, so that their defaults apply", async () => {
    expect(await client<Functions>(shop.address).add(1, undefined)).toBe(11);
  });

  it("finds a function whose name has characters beyond ASCII", async () => {
    expect(await client<Functions>(shop.address).größe("a shirt")).toBe("L of a shirt");
  });

  it("is rejected without being sent if it has too many arguments", async () => {
    const error = await rejectionOf(Reflect.apply(client<Functions>(shop.address).add, undefined, [1, 2, 3]));
    expect(error).toMatchObject({
      code: "validation_error",
      message: "add received 3 arguments, but takes at most 2: add(a, b). Write add(a, b).",
    });
    expect(shop.requests).toEqual(["GET add"]);
  });

  it("is rejected without being sent if an argument would not arrive as it is", async () => {
    const api = client<Functions>(shop.address);
    const message = "add: a: a Set cannot be sent. Use an array: [...a].";
    await expect(Reflect.apply(api.add, undefined, [new Set()])).rejects.toThrow(new TypeError(message));
    await expect(api.add.named({ a: new Set() })).rejects.toThrow(new TypeError(message));
    await expect(api.add(Number.NaN)).rejects.toThrow("add: a: NaN cannot be sent.");
    expect(shop.requests).toEqual(["GET add"]);
  });

  it("rejects with not_found for an unknown function, called by position and by name", async () => {
    const api = client<{ missing: typeof functions.add }>(shop.address);
    expect(await rejectionOf(api.missing(1))).toMatchObject({ code: "not_found" });
    expect(await rejectionOf(api.missing.named({}))).toMatchObject({ code: "not_found" });
  });

  it("works with catch, finally and Promise.all", async () => {
    const api = client<Functions>(shop.address);
    const caught = await api.fail().catch((error: unknown) => error);
    expect(caught).toBeInstanceOf(RPCError);
    const done = vi.fn();
    expect(await api.add(1).finally(done)).toBe(11);
    expect(done).toHaveBeenCalledOnce();
    expect(await api.add(1).then((sum) => sum * 2)).toBe(22);
  });

  it("sends no request if it is cancelled at once, and rejects with an AbortError", async () => {
    const api = client<Functions>(shop.address);
    const calls = [api.add(1, 2), api.add.named({ a: 1 })];
    for (const call of calls) call.cancel();
    for (const call of calls) {
      expect(await rejectionOf(call)).toMatchObject({ name: "AbortError", message: "add: the call was cancelled" });
    }
    expect(await api.whoami()).toBeNull();
    expect(shop.requests).toEqual(["POST whoami"]);
  });

  it("rejects at once when it is cancelled, also if its fetch ignores the signal", async () => {
    const never = new Promise<Response>(() => undefined);
    const call = client<Functions>(shop.address, { fetch: () => never }).add(1);
    const error = rejectionOf(call);
    call.cancel();
    expect(await error).toMatchObject({ name: "AbortError" });
  });

  it("is sent once, even if it is awaited several times", async () => {
    const call = client<Functions>(shop.address).add(1, 1);
    expect([await call, await call]).toEqual([2, 2]);
    expect(shop.calls).toHaveLength(1);
  });

  it("is sent even if it is not awaited", async () => {
    const api = client<Functions>(shop.address);
    void api.note("by position");
    void api.note.named({ text: "by name" });
    await expect.poll(() => shop.calls).toHaveLength(2);
    expect(shop.calls).toEqual(
      expect.arrayContaining([
        ["note", "by position"],
        ["note", "by name"],
      ]),
    );
  });

  it("can be awaited later, and is sent once", async () => {
    const call = client<Functions>(shop.address).note("later");
    await expect.poll(() => shop.calls).toHaveLength(1);
    expect(await call).toBeNull();
    expect(shop.calls).toHaveLength(1);
  });
});

describe("a client object", () => {
  it("sends no call when it is awaited or serialised, or when a symbol is read from it", async () => {
    const api = client<Functions>(shop.address);
    expect(await api).toBe(api);
    expect(JSON.stringify(api)).toBe("{}");
    expect(String(Reflect.get(api, Symbol.toPrimitive))).toBe("undefined");
    expect(shop.requests).toEqual([]);
  });

  it("returns the same function for the same name", () => {
    const api = client<Functions>(shop.address);
    expect(api.add).toBe(api.add);
  });

  it("has the server functions of its module, and nothing else, as its type", () => {
    const api = client<Functions>(shop.address);
    expectTypeOf(api.add).toEqualTypeOf(functions.add);
    expectTypeOf(api.countdown).returns.toEqualTypeOf<Stream<number>>();
    expectTypeOf(api).not.toHaveProperty("notAFunction");
  });
});
