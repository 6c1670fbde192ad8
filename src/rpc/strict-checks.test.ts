import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callOverHttp, createTestApp } from "#test/compiled-app";
import { typedServer, typedSignature } from "#test/typed-server";
import { RPCError } from "../errors.ts";
import type { Signature } from "../protocol/index.ts";
import { bindArguments } from "./arguments.ts";
import { compileParameterChecks } from "./strict-checks.ts";

/** Returns the signature that the compile step reads from the source text of parameters. */
const signature = (params: string, declarations = "") => typedSignature("f", params, declarations);

/** Binds arguments like a strict application. They are JSON text, so that keys like __proto__ are own properties. */
function bind(compiled: Signature, json: string): unknown[] {
  return bindArguments(
    compiled,
    JSON.parse(json),
    compileParameterChecks(compiled, () => false),
  );
}

/** Returns the value that a parameter `a` of a type receives. */
function acceptedValue(type: string, json: string, declarations = ""): unknown {
  return bind(signature(`a: ${type}`, declarations), `{"a":${json}}`)[0];
}

function rejectionOf(type: string, json: string, declarations = ""): RPCError {
  try {
    acceptedValue(type, json, declarations);
  } catch (error) {
    if (error instanceof RPCError) return error;
    throw error;
  }
  throw new Error("The value was not rejected.");
}

describe("strict checks of scalar values", () => {
  it.each<[type: string, json: string, value: unknown]>([
    ["string", '"x"', "x"],
    ["string", '""', ""],
    ["string | null", "null", null],
    ["string | int", '"1"', "1"],
    ["string | int", "1", 1],
    ["int | boolean", "true", true],
    ['"s" | "m"', '"m"', "m"],
    ["1 | 2", "2", 2],
    ["1 | 2", '" 2 "', 2],
    ["0.5 | 1", '"0.5"', 0.5],
    ["true", '"yes"', true],
    ['1 | "one"', '"1"', 1],
    ['1 | "1"', '"1"', "1"],
    ['int | "all"', '"all"', "all"],
    ['int | "all"', '"7"', 7],
    ["int", '"7"', 7],
    ["Date", '"whatever"', "whatever"],
  ])("accept for the type %s the value %s", (type, json, value) => {
    expect(acceptedValue(type, json)).toStrictEqual(value);
  });

  it.each<[type: string, json: string, message: string]>([
    ["string", "1", "a: expected string, got 1"],
    ["string", "null", "a: expected string, got null"],
    ["string", "[]", "a: expected string, got []"],
    ["string", '{"b":1}', 'a: expected string, got {"b":1}'],
    ["string | null", "true", "a: expected string or null, got true"],
    ["string | int", "1.5", "a: expected string or int, got 1.5"],
    ["int | boolean", '"1"', 'a: expected int or boolean, got "1"'],
    ['"s" | "m"', '"l"', 'a: expected "s" or "m", got "l"'],
    ['"s" | "m"', '"S"', 'a: expected "s" or "m", got "S"'],
    ["1 | 2", "3", "a: expected 1 or 2, got 3"],
    ["true", "false", "a: expected true, got false"],
    ["true | 1", '"1"', 'a: expected true or 1, got "1"'],
    ["int", "1.5", "a: expected int, got 1.5"],
  ])("reject for the type %s the value %s", (type, json, message) => {
    const error = rejectionOf(type, json);
    expect(error).toMatchObject({ code: "validation_error", message });
    expect(error.details).toEqual({ parameter: "a", expected: message.slice(12, message.indexOf(", got")) });
  });

  it("truncate long values and keys in errors", () => {
    expect(rejectionOf("int[]", `["${"9".repeat(10_000)}x"]`).message.length).toBeLessThan(100);
    expect(rejectionOf("Record<string, int>", `{"${"k".repeat(10_000)}":"x"}`).message.length).toBeLessThan(120);
  });
});

describe("strict checks inside of values", () => {
  const ITEM = "interface Item { name: string; price: float; tags?: string[] | null }";

  it("coerce members and items like whole parameters", () => {
    const json =
      '[{"name":"a","price":" 1.5 "},{"name":"b","price":2,"tags":["x"]},{"name":"c","price":0,"tags":null}]';
    expect(acceptedValue("Item[]", json, ITEM)).toStrictEqual([
      { name: "a", price: 1.5 },
      { name: "b", price: 2, tags: ["x"] },
      { name: "c", price: 0, tags: null },
    ]);
    expect(acceptedValue("{ on: boolean; n: int | null }", '{"on":"yes","n":"4"}')).toStrictEqual({ on: true, n: 4 });
    expect(acceptedValue("Record<string, int>", '{"a":"1","b":2}')).toStrictEqual({ a: 1, b: 2 });
    expect(acceptedValue("[int, string]", '["1","1"]')).toStrictEqual([1, "1"]);
  });

  it.each<[type: string, json: string, path: string | undefined, expected: string, message: string]>([
    ["Item[]", '[{"name":"a","price":1},{"name":"b","price":"x"}]', "a[1].price", "float", 'got "x"'],
    ["Item[]", '[{"name":"a","price":1,"tags":["x",2]}]', "a[0].tags[1]", "string", "got 2"],
    ["Item[]", '[{"price":1}]', "a[0].name", "string", "string is required"],
    ["Item[]", '[{"name":"a"}]', "a[0].price", "float", "float is required"],
    ["Item[]", "[null]", "a[0]", "object", "got null"],
    ["Item[]", "[[]]", "a[0]", "object", "got []"],
    ["Item[]", '{"0":1}', undefined, "array", 'got {"0":1}'],
    ["Item", "[]", undefined, "object", "got []"],
    ["Item", '"x"', undefined, "object", 'got "x"'],
    ["{ n?: int }", '{"n":null}', "a.n", "int", "got null"],
    ["{ n?: never }", '{"n":1}', "a.n", "nothing", "got 1"],
    ["Record<string, int>", '{"per day":"x"}', 'a["per day"]', "int", 'got "x"'],
    ["Record<string, int>", '{"":"x"}', 'a[""]', "int", 'got "x"'],
    ['Record<"x" | "y", int>', '{"x":1}', "a.y", "int", "int is required"],
    ["[int, string]", "[1]", undefined, "array of 2", "got [1]"],
    ["[int, string]", '[1,"a",2]', undefined, "array of 2", "got [1"],
    ["[int, string?]", "[]", undefined, "array of 1 to 2", "got []"],
    ["[int, ...string[]]", "[]", undefined, "array of at least 1", "got []"],
    ["[int, ...string[]]", '[1,"a",2]', "a[2]", "string", "got 2"],
    ["int[] | null", '"x"', undefined, "array or null", 'got "x"'],
    ["int | { n: int }", "[]", undefined, "int or object", "got []"],
  ])("reject for the type %s the value %s at the path %s", (type, json, path, expected, message) => {
    const error = rejectionOf(type, json, ITEM);
    expect(error.details).toEqual({ parameter: "a", expected, ...(path === undefined ? {} : { path }) });
    expect(error.message).toMatch(new RegExp(`^${(path ?? "a").replace(/[[\]]/g, "\\$&")}: `));
    expect(error.message).toContain(message);
  });

  it("select the case of a discriminated union by its literal member", () => {
    const pay = '{ kind: "card"; number: string } | { kind: "iban" | "bic"; code: string; fee?: int }';
    expect(acceptedValue(pay, '{"kind":"card","number":"4"}')).toStrictEqual({ kind: "card", number: "4" });
    expect(acceptedValue(pay, '{"kind":"bic","code":"x","fee":"3"}')).toStrictEqual({ kind: "bic", code: "x", fee: 3 });
    expect(rejectionOf(pay, '{"kind":"bic","number":"4"}').message).toBe("a.code: string is required");
    expect(rejectionOf(pay, '{"kind":"cash"}').message).toBe('a.kind: expected "card" or "iban" or "bic", got "cash"');
    expect(rejectionOf(pay, "{}").message).toBe('a.kind: "card" or "iban" or "bic" is required');
    expect(acceptedValue("{ v: 1; a: int } | { v: 2; b: int }", '{"v":"2","b":"3"}')).toStrictEqual({ v: 2, b: 3 });
  });

  it("follow recursive types", () => {
    const tree = "interface Tree { v: int; kids: Tree[]; up?: Tree | null }";
    expect(acceptedValue("Tree", '{"v":1,"kids":[{"v":"2","kids":[],"up":null}]}', tree)).toStrictEqual({
      v: 1,
      kids: [{ v: 2, kids: [], up: null }],
    });
    expect(rejectionOf("Tree", '{"v":1,"kids":[{"v":2,"kids":[{"v":"x","kids":[]}]}]}', tree).details).toEqual({
      parameter: "a",
      expected: "int",
      path: "a.kids[0].kids[0].v",
    });
    const markup = "interface Markup { tag: string; inner: (Markup | string | null)[] }";
    const some = '{"tag":"p","inner":["x",{"tag":"b","inner":[null]}]}';
    expect(acceptedValue("Markup", some, markup)).toStrictEqual(JSON.parse(some));
    expect(rejectionOf("Markup", '{"tag":"p","inner":[1]}', markup).message).toBe(
      "a.inner[0]: expected string or object or null, got 1",
    );
    const json = "type Json = string | float | boolean | null | Json[] | { [key: string]: Json };";
    expect(acceptedValue("Json", '{"a":[1,"x",{"b":null}]}', json)).toStrictEqual({ a: [1, "x", { b: null }] });
  });

  it("accept null in an array for undefined, because JSON has no undefined", () => {
    expect(acceptedValue("(int | undefined)[]", '[1,null,"2"]')).toStrictEqual([1, undefined, 2]);
    expect(acceptedValue("(int | null | undefined)[]", "[null]")).toStrictEqual([null]);
    expect(acceptedValue("[int?, int?]", "[null,2]")).toStrictEqual([undefined, 2]);
  });
});

describe("members that are not part of a type", () => {
  it("are removed from the value", () => {
    expect(acceptedValue("{ n: int; o: { m: int } }", '{"n":1,"admin":true,"o":{"m":2,"x":3}}')).toStrictEqual({
      n: 1,
      o: { m: 2 },
    });
    expect(acceptedValue('{ k: "a" } | { k: "b"; n: int }', '{"k":"a","n":1}')).toStrictEqual({ k: "a" });
  });

  it("are kept if the type has an index signature", () => {
    expect(acceptedValue("{ n: int; [key: string]: string | int }", '{"n":"1","m":"1"}')).toStrictEqual({
      n: 1,
      m: "1",
    });
  });

  it("are neither read from a prototype nor set on one", () => {
    for (const name of ["constructor", "toString", "hasOwnProperty", "valueOf"]) {
      expect(rejectionOf(`{ ${name}: string }`, "{}").message).toBe(`a.${name}: string is required`);
      expect(acceptedValue(`{ ${name}?: string }`, "{}")).toStrictEqual({});
      expect(acceptedValue(`{ ${name}?: string }`, `{"${name}":"x"}`)).toEqual({ [name]: "x" });
      expect(Object.entries(acceptedValue("Record<string, int>", `{"${name}":"1"}`) as object)).toEqual([[name, 1]]);
    }
    const value = acceptedValue("{ n: int }", '{"n":1,"__proto__":{"admin":true}}') as { admin?: unknown };
    expect(value.admin).toBeUndefined();
    expect(rejectionOf("Record<string, { admin: boolean }>", '{"__proto__":{"admin":true}}').details.path).toBe(
      "a.__proto__",
    );
  });
});

describe("strict checks of parameters", () => {
  it("apply to destructured objects, defaults and missing members", () => {
    const keyed = signature("{ item, size = 's', tags }: { item: string; size?: 's' | 'm'; tags?: string[] }");
    expect(bind(keyed, '{"item":"a"}')).toEqual([{ item: "a" }]);
    expect(bind(keyed, '{"item":"a","size":"m","tags":["x"]}')).toEqual([{ item: "a", size: "m", tags: ["x"] }]);
    expect(() => bind(keyed, "{}")).toThrow(/^item is missing: f\({ item, size\?, tags\? }\)\.$/);
    expect(() => bind(keyed, '{"item":"a","size":"l"}')).toThrow('size: expected "s" or "m", got "l"');
    expect(() => bind(keyed, '{"item":"a","tags":[1]}')).toThrow("tags[0]: expected string, got 1");
    expect(() => bind(signature("a = 'x'"), '{"a":1}')).toThrow("a: expected string, got 1");
    expect(bind(signature("a = 'x'"), "{}")).toEqual([]);
  });

  it("are replaced by schemas", () => {
    const compiled = signature("a: string[], b: string");
    const checks = compileParameterChecks(compiled, (name) => name === "a");
    expect([...checks.keys()]).toEqual(["b"]);
    expect(bindArguments(compiled, { a: "x,y", b: "z" }, checks)).toEqual(["x,y", "z"]);
  });
});

describe("the strict option of an application", () => {
  const received: unknown[] = [];
  const f = typedServer(["f", "name: string, tags: (int | null)[]"], (...values) => received.push(values));
  const stream = typedServer(
    ["stream", "name: string"],
    function* (name: string) {
      yield name;
    },
    { stream: true },
  );
  const args = { name: 5, tags: ["1"] };

  it("rejects invalid arguments with 422, also before a stream starts [REQUEST-4]", async () => {
    const app = createTestApp({ f, stream }, { strict: true });
    for (const name of ["f", "stream"]) {
      const response = await callOverHttp(app, name, name === "f" ? args : { name: 5 });
      expect(response.status).toBe(422);
      expect(await response.json()).toEqual({
        error: {
          code: "validation_error",
          message: "name: expected string, got 5",
          details: { parameter: "name", expected: "string" },
        },
      });
    }
    expect((await callOverHttp(app, "f", { name: "x", tags: ["1", null] })).status).toBe(200);
    expect(received.pop()).toEqual(["x", [1, null]]);
    const missing = await callOverHttp(app, "f", { tags: [] });
    expect(await missing.json()).toMatchObject({ error: { message: "name is missing: f(name, tags)." } });
  });

  it.each([{}, { strict: false }])("is off by default, so that values are passed unchecked: %j", async (options) => {
    expect((await callOverHttp(createTestApp({ f }, options), "f", args)).status).toBe(200);
    expect(received.pop()).toEqual([5, ["1"]]);
  });
});

describe("strict checks of any JSON", () => {
  const compiled = signature(
    "a: Node | null",
    'interface Node { kind: "x"; n: int; s?: string; list: (Node | float | null)[]; more: Record<string, boolean> }',
  );
  const checks = compileParameterChecks(compiled, () => false);

  it("return a value of the type, or throw a validation_error that names the path", { timeout: 60_000 }, () => {
    const keys = fc.constantFrom("kind", "n", "s", "list", "more", "__proto__", "constructor", "other");
    const { any } = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { depthSize: "medium" },
        fc.constantFrom("x", "1", "yes", 1, 0.5, null, true, ""),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(keys, tie("any"), { maxKeys: 5 }),
        fc.record({
          kind: fc.constant("x"),
          n: fc.constantFrom(1, "2"),
          list: fc.array(tie("any"), { maxLength: 2 }),
          more: fc.constantFrom({}, { a: "on" }),
        }),
      ),
    }));
    let accepted = 0;
    fc.assert(
      fc.property(any, (value) => {
        try {
          const [bound = null] = bindArguments(compiled, { a: value }, checks);
          expect(isNode(bound)).toBe(true);
          // An accepted value is accepted again, unchanged.
          expect(bindArguments(compiled, { a: bound }, checks)[0] ?? null).toEqual(bound);
          accepted++;
        } catch (error) {
          if (!(error instanceof RPCError)) throw error;
          expect(error.details).toMatchObject({ parameter: "a", expected: expect.any(String) });
          expect(error.message.startsWith(String(error.details.path ?? "a"))).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
    expect(accepted).toBeGreaterThan(20);
  });

  function isNode(value: unknown): boolean {
    if (value === null) return true;
    if (typeof value !== "object" || Array.isArray(value)) return false;
    const { kind, n, s, list, more, ...others } = value as Record<string, unknown>;
    return (
      kind === "x" &&
      Number.isSafeInteger(n) &&
      (s === undefined || typeof s === "string") &&
      Array.isArray(list) &&
      list.every((item) => typeof item === "number" || isNode(item)) &&
      Object.values(more as object).every((value) => typeof value === "boolean") &&
      Object.keys(others).length === 0 &&
      Object.getPrototypeOf(value) === Object.prototype
    );
  }
});
