import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RPCError } from "../errors.ts";
import type { Parameter, Signature } from "../protocol/index.ts";
import { bindArguments } from "./arguments.ts";

function signature(params: readonly Omit<Parameter, "annotation">[], overrides: Partial<Signature> = {}): Signature {
  return {
    name: "buy",
    file: "shop.server.ts",
    line: 1,
    params: params.map((param) => ({ ...param, annotation: param.type })),
    ...overrides,
  };
}

/** Parses arguments from JSON text, so that keys like __proto__ are own properties. */
function args(json: string): Record<string, unknown> {
  return JSON.parse(json);
}

function errorOf(work: () => unknown): RPCError {
  try {
    work();
  } catch (error) {
    if (error instanceof RPCError) return error;
    throw error;
  }
  throw new Error("The arguments were not rejected.");
}

const BUY = signature([
  { name: "item", type: "any" },
  { name: "quantity", type: "int", optional: true },
]);

describe("bindArguments with positional parameters", () => {
  it("returns the values in the order of the parameters", () => {
    expect(bindArguments(BUY, args('{"quantity":"2","item":"apple"}'))).toEqual(["apple", 2]);
  });

  it("accepts an empty object for a function without parameters", () => {
    expect(bindArguments(signature([]), {})).toEqual([]);
  });

  it("omits trailing optional arguments, so that their defaults apply", () => {
    expect(bindArguments(BUY, { item: "apple" })).toEqual(["apple"]);
  });

  it("passes undefined for an omitted argument in the middle, so that its default applies", () => {
    const middle = signature([
      { name: "a", type: "int", optional: true },
      { name: "b", type: "int" },
    ]);
    const fn = (a = 7, b = 0) => [a, b];
    const values = bindArguments(middle, { b: 1 });
    expect(values).toEqual([undefined, 1]);
    expect(fn(...(values as number[]))).toEqual([7, 1]); // both were coerced to int
  });

  it("rejects a missing required parameter", () => {
    const error = errorOf(() => bindArguments(BUY, {}));
    expect(error).toMatchObject({
      code: "validation_error",
      message: "item is missing: buy(item, quantity?).",
      details: { parameter: "item", expected: "any" },
    });
    expect(errorOf(() => bindArguments(signature([{ name: "n", type: "int" }]), {}))).toMatchObject({
      message: "n is missing: buy(n).",
      details: { parameter: "n", expected: "int" },
    });
  });

  it("describes one object in place of the arguments, and a missing argument of a keyed function", () => {
    const sign = signature([
      { name: "name", type: "any" },
      { name: "age", type: "int" },
    ]);
    const error = errorOf(() => bindArguments(sign, { name: { name: "Ada", age: 36 } }));
    expect(error.message).toBe(
      `age is missing: ${sign.name}(name, age). name is an object with a member age: ` +
        `pass its members one by one, or call ${sign.name}.named({ … }).`,
    );
    expect(errorOf(() => bindArguments({ ...sign, keyed: true }, { age: 1 })).message).toBe(
      `name is missing: ${sign.name}({ name, age }).`,
    );
    const sum = signature([
      { name: "items", type: "any" },
      { name: "length", type: "int" },
    ]);
    expect(errorOf(() => bindArguments(sum, { items: [1] })).message).toBe(
      `length is missing: ${sum.name}(items, length).`,
    );
  });

  it("distinguishes null from an omitted argument", () => {
    expect(bindArguments(BUY, args('{"item":null}'))).toEqual([null]);
    expect(errorOf(() => bindArguments(BUY, args('{"item":1,"quantity":null}'))).message).toBe(
      "quantity: expected int, got null",
    );
    const nullable = signature([{ name: "n", type: "int", nullable: true, optional: true }]);
    expect(bindArguments(nullable, args('{"n":null}'))).toEqual([null]);
    expect(bindArguments(nullable, {})).toEqual([]);
  });

  it("rejects a value of another type and names parameter, type and value", () => {
    expect(errorOf(() => bindArguments(BUY, { item: "apple", quantity: "three" }))).toMatchObject({
      code: "validation_error",
      message: 'quantity: expected int, got "three"',
      details: { parameter: "quantity", expected: "int" },
    });
  });

  it("shows a number that is too large for a double as infinite in the error", () => {
    expect(errorOf(() => bindArguments(BUY, args('{"item":1,"quantity":1e400}'))).message).toBe(
      "quantity: expected int, got Infinity",
    );
    expect(errorOf(() => bindArguments(BUY, args('{"item":1,"quantity":-1e400}'))).message).toBe(
      "quantity: expected int, got -Infinity",
    );
  });

  it("names all members of a union in the error", () => {
    const page = signature([{ name: "size", type: "int", nullable: true, literals: ["all"] }]);
    expect(errorOf(() => bindArguments(page, { size: "some" })).message).toBe(
      'size: expected int or "all" or null, got "some"',
    );
  });

  it("truncates a long value in the error", () => {
    const { message } = errorOf(() => bindArguments(BUY, { item: 1, quantity: "9".repeat(10_000) }));
    expect(message.length).toBeLessThan(100);
    expect(message).toMatch(/…$/);
  });
});

describe("bindArguments with unknown names", () => {
  it.each(["extra", "__proto__", "constructor", "toString", "hasOwnProperty", "length", "0", "", "Item"])(
    "rejects %j",
    (name) => {
      const error = errorOf(() => bindArguments(BUY, args(`{"item":1,${JSON.stringify(name)}:2}`)));
      expect(error).toMatchObject({
        code: "validation_error",
        message: `buy has no parameter ${JSON.stringify(name)}; it takes item, quantity`,
        details: { parameter: name, expected: "nothing" },
      });
    },
  );

  it("names the function in the error, if it has no parameters", () => {
    expect(errorOf(() => bindArguments(signature([]), { a: 1 })).message).toBe(
      'buy has no parameter "a"; it takes no parameters',
    );
  });

  it("truncates a long name in the error", () => {
    const error = errorOf(() => bindArguments(BUY, { item: 1, ["x".repeat(5000)]: 1 }));
    expect(error.message.length).toBeLessThan(120);
    expect(error.details.parameter).toHaveLength(40);
  });

  it("ignores properties that an object inherits", () => {
    // If names were looked up on the prototype, these parameters would receive functions.
    for (const name of ["constructor", "toString", "valueOf", "hasOwnProperty"]) {
      const odd = signature([{ name, type: "any" }]);
      expect(errorOf(() => bindArguments(odd, {})).details).toMatchObject({ parameter: name });
      expect(bindArguments(odd, args(`{"${name}":1}`))).toEqual([1]);
    }
  });
});

describe("bindArguments for a keyed function", () => {
  const keyed = signature(
    [
      { name: "item", type: "any" },
      { name: "quantity", type: "int", optional: true },
    ],
    { keyed: true },
  );

  it("returns one object of the parameters", () => {
    expect(bindArguments(keyed, { item: "apple", quantity: "2" })).toEqual([{ item: "apple", quantity: 2 }]);
  });

  it("omits the keys of omitted arguments, so that their defaults apply", () => {
    const [fields] = bindArguments(keyed, { item: "apple" });
    expect(Object.keys(fields as object)).toEqual(["item"]); // a keyed function has one argument, an object
    const fn = ({ quantity = 1 }: { quantity?: number }) => quantity;
    expect(fn(fields as object)).toBe(1);
  });

  it("rejects missing, unknown and invalid arguments", () => {
    expect(errorOf(() => bindArguments(keyed, {})).details).toMatchObject({ parameter: "item" });
    expect(errorOf(() => bindArguments(keyed, { item: 1, more: 1 })).details).toMatchObject({ parameter: "more" });
    expect(errorOf(() => bindArguments(keyed, { item: 1, quantity: "x" })).details).toMatchObject({
      parameter: "quantity",
    });
  });
});

describe("bindArguments with any JSON", () => {
  const names = fc.constantFrom("n", "f", "b", "x", "__proto__", "constructor", "toString", "other");
  const anyArgs = fc
    .array(fc.tuple(names, fc.jsonValue()))
    .map((entries) => args(`{${entries.map(([key, value]) => `"${key}":${JSON.stringify(value)}`).join(",")}}`));
  const typed = signature([
    { name: "n", type: "int", optional: true },
    { name: "f", type: "float", nullable: true, optional: true },
    { name: "b", type: "boolean", optional: true },
    { name: "x", type: "any", optional: true },
  ]);

  it("returns values of the types, or throws a validation_error that names the parameter", () => {
    fc.assert(
      fc.property(anyArgs, (input) => {
        let values: unknown[];
        try {
          values = bindArguments(typed, input);
        } catch (error) {
          expect(error).toBeInstanceOf(RPCError);
          expect(error).toMatchObject({ code: "validation_error", details: { parameter: expect.any(String) } });
          return;
        }
        const [n, f, b] = values;
        expect(values.length).toBeLessThanOrEqual(4);
        expect(n === undefined || Number.isSafeInteger(n)).toBe(true);
        expect(f === undefined || f === null || Number.isFinite(f)).toBe(true);
        expect(b === undefined || typeof b === "boolean").toBe(true);
        expect(Object.keys(input).every((name) => ["n", "f", "b", "x"].includes(name))).toBe(true);
      }),
      { numRuns: 500 },
    );
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});
