import { describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { RPCError } from "../errors.ts";
import type { Stream } from "../protocol/index.ts";
import { session } from "../session/index.ts";
import { definitionOf, server } from "./server.ts";

describe("server()", () => {
  it("throws in a module that was not compiled, and the error describes how to compile it", () => {
    for (const declare of [
      () => server(() => 1),
      () => server({}, () => 1),
      () => server({ auth_required: true }, () => 1),
    ]) {
      expect(declare).toThrow(/tsweb dev[\s\S]*tsweb\/register[\s\S]*tsweb\/vite/);
    }
  });

  it("keeps the function's name, signature and options", () => {
    const options = { auth_required: true };
    const add = compiledServer("add", (a: number) => a, { params: { a: "int" }, options });
    expect((add as { name?: string }).name).toBe("add");
    expect(definitionOf(add)).toMatchObject({ signature: { name: "add", file: "src/add.server.ts" }, options });
    for (const other of [() => 1, {}, null, undefined, "add"]) expect(definitionOf(other)).toBeUndefined();
  });
});

describe("a call from server code", () => {
  it("resolves with the serialised result and does not coerce arguments", async () => {
    const received: unknown[] = [];
    const echo = compiledServer("echo", (...values: unknown[]) => received.push(...values), {
      params: { a: "int", b: "int" },
    });
    await echo("1", undefined);
    expect(received).toEqual(["1", undefined]);
    const date = compiledServer("date", () => ({ at: new Date(0), none: undefined, big: 1n }));
    expect(await date()).toEqual({ at: "1970-01-01T00:00:00.000Z", big: "1" });
    const nothing = compiledServer("nothing", async () => {});
    expect(await nothing()).toBeNull();
  });

  it("resolves with a copy of the function's value", async () => {
    const stored = { list: [1] };
    const get = compiledServer("get", () => stored);
    const got = await get();
    got.list.push(2);
    expect(stored.list).toEqual([1]);
  });

  it("rejects with the function's error and never throws synchronously", async () => {
    const error = new Error("as it is");
    const fail = compiledServer("fail", () => {
      throw error;
    });
    await expect(fail()).rejects.toBe(error);
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    await expect(compiledServer("cycle", () => cycle)()).rejects.toThrow("self cannot be sent");
  });

  it("respects auth_required, with the session of the current request", async () => {
    const inner = compiledServer("inner", () => session.user()?.sub, { options: { auth_required: true } });
    const ticks = compiledServer(
      "ticks",
      function* () {
        yield session.user()?.sub;
      },
      { options: { auth_required: true }, stream: true },
    );
    const outer = compiledServer("outer", async () => {
      const codeOf = (error: unknown) => (error instanceof RPCError ? error.code : error);
      const seen: unknown[] = [await inner().catch(codeOf)];
      await (async () => {
        for await (const tick of ticks()) seen.push(tick);
      })().catch((error: unknown) => seen.push(codeOf(error)));
      session.login("ada");
      seen.push(await inner());
      for await (const tick of ticks()) seen.push(tick);
      return seen;
    });
    const response = await callOverHttp(createTestApp({ inner, ticks, outer }), "outer");
    expect(await response.json()).toEqual({ result: ["unauthenticated", "unauthenticated", "ada", "ada"] });
  });
});

describe("a function that returns a stream and is not declared with function*", () => {
  const steps = function* () {
    yield 1;
  };
  const later = async function* () {
    yield 1;
  };
  const inner = compiledServer("inner", steps, { stream: true });
  const functions: Readonly<Record<string, () => unknown>> = {
    a: () => steps(),
    b: () => later(),
    c: async () => later(),
    d: () => inner(),
  };

  it.each(Object.entries(functions))("fails when it is called: %s", async (_, run) => {
    const f = compiledServer("f", run);
    await expect(f()).rejects.toThrow("function*");
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const response = await callOverHttp(createTestApp({ f }), "f");
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ error: { code: "internal" } });
    expect(String(log.mock.calls)).toContain("function*");
    log.mockRestore();
  });
});

describe("named()", () => {
  const buy = compiledServer("buy", (item: unknown, quantity: number = 1) => [item, quantity], {
    params: { item: "any", quantity: { type: "int", optional: true } },
  });

  it("assigns arguments by name and applies the function's defaults", async () => {
    expect(await buy.named({ quantity: 2, item: "apple" })).toEqual(["apple", 2]);
    expect(await buy.named({ item: "apple" })).toEqual(["apple", 1]);
  });

  it("rejects an unknown name", async () => {
    await expect(buy.named({ item: 1, price: 2 })).rejects.toThrow("buy has no parameter price.");
  });

  it("ignores properties that an object inherits", async () => {
    const odd = compiledServer("odd", (value: unknown = "default") => value, {
      params: { ["constructor" as string]: { type: "any", optional: true } },
    });
    expect(await odd.named({})).toBe("default");
  });

  it("calls a keyed function like a direct call", async () => {
    const keyed = compiledServer(
      "keyed",
      ({ item, quantity = 1 }: { item: string; quantity?: number }) => [item, quantity],
      {
        params: { item: "any", quantity: { type: "int", optional: true } },
        keyed: true,
      },
    );
    expect(await keyed({ item: "apple" })).toEqual(["apple", 1]);
    expect(await keyed.named({ item: "apple", quantity: 3 })).toEqual(["apple", 3]);
  });

  it("rejects an unknown name of a stream at the first read", async () => {
    const count = compiledServer(
      "count",
      function* (to: number) {
        yield to;
      },
      { params: { to: "int" }, stream: true },
    );
    const stream = count.named({ upTo: 3 });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow("count has no parameter upTo.");
  });
});

describe("a stream from server code", () => {
  function counting(steps: string[]): () => Stream<number> {
    return compiledServer(
      "counting",
      function* () {
        try {
          steps.push("start");
          for (let n = 1; n <= 3; n++) yield n;
          steps.push("end");
        } finally {
          steps.push("finally");
        }
      },
      { stream: true },
    );
  }

  it("starts at the first read and yields serialised values", async () => {
    const steps: string[] = [];
    const stream = counting(steps)();
    expect(steps).toEqual([]);
    const values: number[] = [];
    for await (const value of stream) values.push(value);
    expect(values).toEqual([1, 2, 3]);
    expect(steps).toEqual(["start", "end", "finally"]);

    const dates = compiledServer(
      "dates",
      function* () {
        yield new Date(0);
        yield Promise.resolve(undefined);
      },
      { stream: true },
    );
    const sent: unknown[] = [];
    for await (const value of dates()) sent.push(value);
    expect(sent).toEqual(["1970-01-01T00:00:00.000Z", null]);
  });

  it("ends when the loop is left", async () => {
    const steps: string[] = [];
    for await (const _ of counting(steps)()) break;
    expect(steps).toEqual(["start", "finally"]);
  });

  it("ends when it is cancelled between reads, during a read and before the first read", async () => {
    const steps: string[] = [];
    const stream = counting(steps)();
    const values: number[] = [];
    for await (const value of stream) {
      values.push(value);
      stream.cancel();
    }
    expect(values).toEqual([1]);
    expect(steps).toEqual(["start", "finally"]);

    const never = counting(steps)();
    never.cancel();
    for await (const _ of never) throw new Error("The stream was cancelled.");
    expect(steps).toEqual(["start", "finally"]);

    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const waiting = compiledServer(
      "waiting",
      async function* () {
        await gate;
        yield 1;
      },
      { stream: true },
    )();
    const read = waiting[Symbol.asyncIterator]().next();
    waiting.cancel();
    open();
    expect(await read).toEqual({ done: true, value: undefined });
  });

  it("can be read once", async () => {
    const stream = counting([])();
    for await (const _ of stream) break;
    expect(() => stream[Symbol.asyncIterator]()).toThrow("A stream can be read once");
  });

  it("throws the function's error into the loop, after its values", async () => {
    const failing = compiledServer(
      "failing",
      function* () {
        yield 1;
        throw new RPCError("conflict", "Taken.");
      },
      { stream: true },
    );
    const values: unknown[] = [];
    const loop = async () => {
      for await (const value of failing()) values.push(value);
    };
    await expect(loop()).rejects.toThrow("Taken.");
    expect(values).toEqual([1]);
  });

  it("runs the function's finally if a value cannot be serialised", async () => {
    const steps: string[] = [];
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    const odd = compiledServer(
      "odd",
      function* () {
        try {
          yield cycle;
        } finally {
          steps.push("finally");
        }
      },
      { stream: true },
    );
    const loop = async () => {
      for await (const _ of odd()) steps.push("value");
    };
    await expect(loop()).rejects.toThrow("self cannot be sent");
    expect(steps).toEqual(["finally"]);
  });
});
