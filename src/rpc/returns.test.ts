import { type } from "arktype";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { z } from "zod";
import { collect } from "#test/collect";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { RPCError, ValueError } from "../errors.ts";
import type { StandardSchema } from "./validate.ts";

let log: MockInstance<typeof console.error>;

beforeEach(() => {
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

const USER = { name: "Ada", hash: "5f4dcc" };

const libraries: readonly (readonly [string, StandardSchema])[] = [
  ["Zod", z.object({ name: z.string() })],
  ["Valibot", v.object({ name: v.string() })],
  ["ArkType", type({ name: "string", "+": "delete" })],
];

async function call(fn: () => unknown, returns: StandardSchema, stream?: true): Promise<string> {
  const f = compiledServer("f", fn, { options: { returns }, ...(stream ? { stream } : {}) });
  return (await callOverHttp(createTestApp({ f }), "f")).text();
}

describe("the option returns", () => {
  it.each(libraries)("sends the output of the schema: %s", async (_, schema) => {
    expect(await call(() => USER, schema)).toBe('{"result":{"name":"Ada"}}');
    expect(await call(async () => USER, schema)).toBe('{"result":{"name":"Ada"}}');
  });

  it.each(libraries)("applies to each value of a stream: %s", async (_, schema) => {
    const lines = '{"chunk":{"name":"Ada"}}\n{"chunk":{"name":"Ada"}}\n{"done":true}\n';
    const values = function* () {
      yield USER;
      yield Promise.resolve(USER);
    };
    expect(await call(values, schema, true)).toBe(lines);
    expect(
      await call(
        async function* () {
          yield* values();
        },
        schema,
        true,
      ),
    ).toBe(lines);
  });

  it("applies to calls from server code", async () => {
    const returns = z.object({ name: z.string() });
    const f = compiledServer("f", () => USER, { options: { returns } });
    expect(await f()).toEqual({ name: "Ada" });
    const g = compiledServer(
      "g",
      function* () {
        yield USER;
      },
      { options: { returns }, stream: true },
    );
    expect(await collect(g())).toEqual([{ name: "Ada" }]);
  });

  it("answers a result that does not match with `internal`, and logs where it differs", async () => {
    const returns = z.object({ lines: z.array(z.object({ price: z.number() })) });
    const text = await call(() => ({ lines: [{ price: 1 }, { price: "x" }] }), returns);
    expect(text).toContain('"code":"internal"');
    expect(text).not.toContain("price");
    expect(log.mock.calls.join()).toContain(
      "The result of f does not match its schema `returns`: result.lines[1].price:",
    );
  });

  it("ends a stream at a value that does not match, and runs its finally", async () => {
    let isClosed = false;
    const values = function* () {
      try {
        yield 1;
        yield "x";
        yield 2;
      } finally {
        isClosed = true;
      }
    };
    expect(await call(values, z.number(), true)).toMatch(/^\{"chunk":1\}\n\{"error":\{"code":"internal".*\}\}\n$/);
    expect(isClosed).toBe(true);
    expect(log.mock.calls.join()).toContain("does not match its schema `returns`: value:");
  });

  it("runs the finally of a stream whose client disconnects", async () => {
    let isClosed = false;
    const values = async function* () {
      try {
        for (;;) yield 1;
      } finally {
        isClosed = true;
      }
    };
    const f = compiledServer("f", values, { options: { returns: z.number() }, stream: true });
    const response = await callOverHttp(createTestApp({ f }), "f");
    await response.body?.cancel();
    await expect.poll(() => isClosed).toBe(true);
  });

  it("sends an RPCError of the function unchanged", async () => {
    const refuse = () => {
      throw new RPCError("conflict", "Taken.");
    };
    expect(await call(refuse, z.string())).toContain('"code":"conflict","message":"Taken."');
  });

  it.each([new ValueError("secret"), new TypeError("secret"), new RPCError("conflict", "secret")])(
    "answers %s of the schema with `internal`, because the caller has not caused it",
    async (error) => {
      const returns: StandardSchema = {
        "~standard": {
          version: 1,
          validate: () => {
            throw error;
          },
        },
      };
      const text = await call(() => 1, returns);
      expect(text).toContain('"code":"internal"');
      expect(text).not.toContain("secret");
    },
  );

  it("is awaited within the time limit of the call", async () => {
    const slow = z.string().refine(() => new Promise<boolean>(() => undefined));
    const f = compiledServer("f", () => "a", { options: { returns: slow, rpc_timeout: 0.01 } });
    expect((await callOverHttp(createTestApp({ f }), "f")).status).toBe(504);
  });

  it("is refused if it is not a Standard Schema", () => {
    const declare = (returns: unknown) =>
      Reflect.apply(compiledServer, undefined, ["f", () => 1, { options: { returns } }]);
    for (const value of ["string", null, {}, { name: z.string() }]) {
      expect(() => declare(value)).toThrow(
        "server() of f in src/f.server.ts: returns is not a Standard Schema. Use a schema of Zod, Valibot or ArkType.",
      );
    }
  });
});
