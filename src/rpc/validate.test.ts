import { type } from "arktype";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { z } from "zod";
import { callOverHttp, createTestApp } from "#test/compiled-app";
import { typedServer } from "#test/typed-server";
import { RPCError, ValueError } from "../errors.ts";
import { request } from "../http/index.ts";
import type { StandardSchema } from "./validate.ts";

let log: MockInstance<typeof console.error>;

beforeEach(() => {
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

interface Setting {
  readonly validate: Readonly<Record<string, StandardSchema>>;
  readonly strict?: boolean;
  readonly declarations?: string;
  readonly rpc_timeout?: number;
}

/** Calls a function with these parameters and returns the arguments that it received, or the error. */
async function receivedArguments(params: string, args: object, setting: Setting): Promise<unknown> {
  const { strict = false, declarations = "", ...options } = setting;
  const f = typedServer(["f", params], (...values: unknown[]) => values, { options, declarations });
  const response = await callOverHttp(createTestApp({ f }, { strict }), "f", args);
  const body = (await response.json()) as { result?: unknown; error?: unknown };
  return "result" in body ? body.result : body.error;
}

/** The same schemas with each library. */
const LIBRARIES: readonly {
  readonly name: string;
  readonly email: StandardSchema;
  readonly order: StandardSchema;
  readonly day: StandardSchema;
  readonly free: StandardSchema;
  readonly size: StandardSchema;
}[] = [
  {
    name: "Zod",
    email: z.email(),
    order: z.object({ lines: z.array(z.object({ "unit price": z.number().positive() })) }),
    day: z.string().transform((text) => new Date(text)),
    free: z.string().refine(async (name) => name !== "taken", "is taken"),
    size: z.enum(["s", "m"]).default("m"),
  },
  {
    name: "Valibot",
    email: v.pipe(v.string(), v.email()),
    order: v.object({ lines: v.array(v.object({ "unit price": v.pipe(v.number(), v.minValue(0.01)) })) }),
    day: v.pipe(
      v.string(),
      v.transform((text) => new Date(text)),
    ),
    free: v.pipeAsync(
      v.string(),
      v.checkAsync(async (name) => name !== "taken", "is taken"),
    ),
    size: v.optional(v.picklist(["s", "m"]), "m"),
  },
  {
    name: "ArkType",
    email: type("string.email"),
    order: type({ lines: type({ "unit price": "number > 0" }).array() }),
    day: type("string").pipe((text) => new Date(text)),
    // ArkType has no asynchronous schemas, so this wraps one, as an application would.
    free: asynchronous(type("string").narrow((name, ctx) => name !== "taken" || ctx.reject({ message: "is taken" }))),
    size: type("'s' | 'm'").default("m")[0],
  },
];

function asynchronous(schema: StandardSchema): StandardSchema {
  return { "~standard": { version: 1, validate: async (value) => schema["~standard"].validate(value) } };
}

describe.each(LIBRARIES)("validate with $name", ({ email, order, day, free, size }) => {
  it("accepts valid values and rejects invalid values with the name of the parameter", async () => {
    expect(await receivedArguments("to: string", { to: "a@b.example" }, { validate: { to: email } })).toEqual([
      "a@b.example",
    ]);
    const error = await receivedArguments("n: int, to: string", { n: "1", to: "nobody" }, { validate: { to: email } });
    expect(error).toMatchObject({ code: "validation_error", details: { parameter: "to" } });
    const { message, details } = error as { message: string; details: { expected: string } };
    expect(message).toBe(`to: ${details.expected}`);
    expect(details).not.toHaveProperty("path");
  });

  it("names the path inside the value in the error", async () => {
    const lines = [{ "unit price": 1 }, { "unit price": -1 }];
    const error = await receivedArguments("order: object", { order: { lines } }, { validate: { order } });
    expect(error).toMatchObject({
      code: "validation_error",
      message: expect.stringMatching(/^order\.lines\[1\]\["unit price"\]: /),
      details: { parameter: "order", path: 'order.lines[1]["unit price"]' },
    });
  });

  it("passes the schema's output to functions, streams and keyed functions", async () => {
    const seen: unknown[] = [];
    const options = { validate: { on: day } };
    const one = typedServer(["one", "on: Date"], (on: Date) => seen.push(on), { options });
    const keyed = typedServer(["keyed", "{ on, n = 1 }: { on: Date; n?: int }"], (all: object) => seen.push(all), {
      options,
    });
    const stream = typedServer(
      ["stream", "on: Date"],
      function* (on: Date) {
        seen.push(on);
        yield 1;
      },
      { options, stream: true },
    );
    const app = createTestApp({ one, keyed, stream });
    for (const name of ["one", "keyed", "stream"]) await (await callOverHttp(app, name, { on: "2026-01-02" })).text();
    const date = new Date("2026-01-02");
    expect(seen).toEqual([date, { on: date }, date]);
  });

  it("awaits asynchronous schemas", async () => {
    expect(await receivedArguments("name: string", { name: "free" }, { validate: { name: free } })).toEqual(["free"]);
    expect(await receivedArguments("name: string", { name: "taken" }, { validate: { name: free } })).toMatchObject({
      code: "validation_error",
      message: "name: is taken",
    });
  });

  it("rejects invalid arguments of a stream before the stream starts", async () => {
    const f = typedServer(
      ["f", "to: string"],
      function* () {
        yield 1;
      },
      { options: { validate: { to: email } }, stream: true },
    );
    const response = await callOverHttp(createTestApp({ f }), "f", { to: "nobody" });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ error: { code: "validation_error", details: { parameter: "to" } } });
  });

  it("applies the function's default to an omitted parameter", async () => {
    const own = typedServer(["own", "to: string = 'me'"], (to = "me") => to, { options: { validate: { to: email } } });
    expect(await (await callOverHttp(createTestApp({ own }), "own")).json()).toEqual({ result: "me" });
    expect(await (await callOverHttp(createTestApp({ own }), "own", { to: "nobody" })).json()).toHaveProperty("error");
    expect(await receivedArguments("size?: string", { size: "s" }, { validate: { size } })).toEqual(["s"]);
    const keyed = typedServer(["keyed", "{ to = 'me' }: { to?: string }"], ({ to = "me" }: { to?: string }) => to, {
      options: { validate: { to: email } },
    });
    expect(await (await callOverHttp(createTestApp({ keyed }), "keyed")).json()).toEqual({ result: "me" });
  });

  it("never shows a value that is named like a secret", async () => {
    for (const [name, schema] of [
      ["password", email],
      ["apiKey", size],
    ] as const) {
      const error = await receivedArguments(`${name}: string`, { [name]: "hunter2" }, { validate: { [name]: schema } });
      expect(error).toMatchObject({ code: "validation_error", details: { parameter: name } });
      expect(JSON.stringify(error)).not.toContain("hunter2");
    }
  });

  it("truncates long values in errors", async () => {
    const error = await receivedArguments("to: string", { to: "x".repeat(100_000) }, { validate: { to: email } });
    expect(JSON.stringify(error).length).toBeLessThan(700);
  });
});

describe("the default value of a schema", () => {
  it("applies to an omitted optional parameter", async () => {
    const zod = { size: z.enum(["s", "m"]).default("m") };
    expect(await receivedArguments("size?: string", {}, { validate: zod })).toEqual(["m"]);
    expect(await receivedArguments("n?: int, size?: string", {}, { validate: zod })).toEqual([null, "m"]);
    expect(await receivedArguments("{ size }: { size?: string }", {}, { validate: zod })).toEqual([{ size: "m" }]);
    expect(await receivedArguments("size?: string", {}, { validate: { size: v.optional(v.string(), "m") } })).toEqual([
      "m",
    ]);
  });

  it("does not apply to a required parameter", async () => {
    const validate = { size: z.string().default("m") };
    expect(await receivedArguments("size: string", {}, { validate })).toMatchObject({
      message: "size is missing: f(size).",
    });
  });
});

describe("the order of validation", () => {
  it("starts with coercion, so that a schema receives a number for a numeric string", async () => {
    expect(await receivedArguments("n: int", { n: " 7 " }, { validate: { n: z.number().max(9) } })).toEqual([7]);
    expect(await receivedArguments("n: int", { n: "x" }, { validate: { n: z.number() } })).toMatchObject({
      message: 'n: expected int, got "x"',
    });
    expect(await receivedArguments("on: boolean", { on: "yes" }, { validate: { on: z.literal(true) } })).toEqual([
      true,
    ]);
  });

  it("is the same in a strict application, where a schema replaces the strict check", async () => {
    const validate = { tags: z.string().transform((text) => text.split(",")) };
    const setting = { validate, strict: true };
    expect(await receivedArguments("tags: string[], name: string", { tags: "a,b", name: "x" }, setting)).toEqual([
      ["a", "b"],
      "x",
    ]);
    expect(await receivedArguments("tags: string[], name: string", { tags: "a", name: 1 }, setting)).toMatchObject({
      message: "name: expected string, got 1",
    });
    expect(await receivedArguments("n: int", { n: "7" }, { validate: { n: z.number() }, strict: true })).toEqual([7]);
  });

  it("follows the parameters and stops at the first invalid one", async () => {
    const validated: string[] = [];
    const recording = (name: string, isValid: boolean): StandardSchema => ({
      "~standard": {
        version: 1,
        validate: (value) => {
          validated.push(name);
          return isValid ? { value } : { issues: [{ message: `${name} is wrong` }] };
        },
      },
    });
    const validate = { c: recording("c", false), b: recording("b", false), a: recording("a", true) };
    expect(await receivedArguments("a: int, b: int, c: int", { a: 1, b: 2, c: 3 }, { validate })).toMatchObject({
      message: "b: b is wrong",
    });
    expect(validated).toEqual(["a", "b"]);
  });
});

describe("an unusual schema", () => {
  const throwing = (error: unknown): StandardSchema => ({
    "~standard": {
      version: 1,
      validate: () => {
        throw error;
      },
    },
  });

  it("causes an internal error and is logged, if it throws", async () => {
    for (const error of [new Error("the database is away"), new TypeError("x is undefined")]) {
      expect(await receivedArguments("a: int", { a: 1 }, { validate: { a: throwing(error) } })).toMatchObject({
        code: "internal",
      });
      expect(log.mock.calls.flat().map(String).join()).toContain(error.message);
    }
    const rejecting = asynchronous(throwing(new Error("later")));
    expect(await receivedArguments("a: int", { a: 1 }, { validate: { a: rejecting } })).toMatchObject({
      code: "internal",
    });
  });

  it("rejects the value if it throws a ValueError, and the call if it throws an RPCError", async () => {
    expect(await receivedArguments("a: int", { a: 1 }, { validate: { a: throwing(new ValueError("No.")) } })).toEqual({
      code: "validation_error",
      message: "a: No.",
      details: { parameter: "a", expected: "No." },
    });
    const error = new RPCError("conflict", "Taken.", { by: 1 });
    expect(await receivedArguments("a: int", { a: 1 }, { validate: { a: throwing(error) } })).toEqual({
      code: "conflict",
      message: "Taken.",
      details: { by: 1 },
    });
  });

  it("rejects the value if it returns an empty list of issues", async () => {
    const mute: StandardSchema = { "~standard": { version: 1, validate: () => ({ issues: [] }) } };
    expect(await receivedArguments("a: int", { a: 1 }, { validate: { a: mute } })).toMatchObject({
      message: "a: is not valid",
    });
  });

  it("runs inside the request and its time limit", async () => {
    const byPath: StandardSchema = { "~standard": { version: 1, validate: () => ({ value: request.path }) } };
    expect(await receivedArguments("a: string", { a: "x" }, { validate: { a: asynchronous(byPath) } })).toEqual([
      "/__web/rpc/f",
    ]);
    const endless: StandardSchema = { "~standard": { version: 1, validate: () => new Promise(() => undefined) } };
    expect(await receivedArguments("a: int", { a: 1 }, { validate: { a: endless }, rpc_timeout: 0.05 })).toMatchObject({
      code: "timeout",
    });
  });

  it("does not receive properties that an object inherits", async () => {
    const seen: unknown[] = [];
    const validateIt = (value: unknown) => {
      seen.push(value);
      return { value };
    };
    const keep: StandardSchema = { "~standard": { version: 1, validate: validateIt } };
    const params = "{ constructor: c, n }: { constructor?: string; n: int }";
    const validate = { ["constructor" as string]: keep, n: keep };
    expect(await receivedArguments(params, { n: 1 }, { validate })).toEqual([{ n: 1 }]);
    expect(seen).toEqual([undefined, 1]);
  });
});

describe("the option validate", () => {
  it.each<[unknown, RegExp]>([
    [null, /validate must be an object of schemas/],
    [{ b: z.string() }, /validate has the unknown parameter b\. Valid parameters: a\./],
    [{ a: {} }, /validate\.a is not a Standard Schema/],
    [{ a: null }, /validate\.a is not a Standard Schema/],
  ])("is rejected when the function is declared with %j", (validate, message) => {
    const options = { validate } as { validate: Record<string, StandardSchema> };
    expect(() => typedServer(["f", "a: int"], () => 1, { options })).toThrow(message);
  });
});
