import { describe, expect, it } from "vitest";
import { BOOLEAN, bind, bindOne, type Entries, INT, parameter, REQUIRED, refused, STRING } from "#test/bind-fields";
import type { FormValue } from "../bodies/index.ts";
import type { Parameter, TypeShape } from "../protocol/index.ts";

const x = (...values: FormValue[]): Entries => values.map((value) => ["x", value]);

describe("a text field", () => {
  it.each<[TypeShape | Parameter["type"], string, unknown]>([
    [STRING, "a", "a"],
    [STRING, "12", "12"],
    [STRING, "", ""],
    [STRING, " ", " "],
    ["int", "12", 12],
    ["int", " -3 ", -3],
    ["int", "1.5", refused("Enter a whole number.")],
    ["int", "9007199254740992", refused("Enter a whole number.")],
    ["int", "", refused(REQUIRED)],
    ["float", "1.5", 1.5],
    ["float", "1e400", refused("Enter a number.")],
    ["boolean", "on", true],
    ["boolean", "No", false],
    ["boolean", "maybe", refused("Choose yes or no.")],
    ["boolean", "", refused(REQUIRED)],
    [{ literals: ["a", "b"] }, "b", "b"],
    [{ literals: ["a", "b"] }, "c", refused("Choose one of the options.")],
    [{ literals: ["", "b"] }, "", ""],
    [{ literals: [1, 2] }, "2", 2],
    [{ literals: [1.5] }, "1.50", 1.5],
    [{ literals: [true] }, "on", true],
    [{ literals: [1, 2] }, "3", refused("Choose one of the options.")],
    [{ kinds: ["int"], literals: ["all"] }, "all", "all"],
    [{ kinds: ["int"], literals: ["all"] }, "7", 7],
    [{ kinds: ["int"], literals: ["all"] }, "x", refused("This value is not valid.")],
    [{ kinds: ["string", "int"] }, "7", "7"],
    [{ kinds: ["int", "boolean"] }, "7", 7],
    [{ kinds: ["int", "boolean"] }, "yes", true],
    [{ any: "Date" }, "2026-01-01", "2026-01-01"],
    [{ any: "" }, "", ""],
  ])("of the type %j takes %j as %j", (shape, text, expected) => {
    expect(bindOne(shape, x(text))).toEqual(expected);
  });

  it.each<TypeShape | Parameter["type"]>([STRING, "int", "float", { literals: ["a"] }, { any: "Date" }])(
    "of the type %j that is missing is required, unless it is optional",
    (shape) => {
      expect(bindOne(shape, [])).toEqual(refused(REQUIRED));
      expect(bindOne(shape, [], { optional: true })).toBeUndefined();
      expect(bindOne(shape, [], { nullable: true })).toEqual(refused(REQUIRED));
    },
  );

  it.each<TypeShape | Parameter["type"]>([STRING, "int", "boolean", { literals: ["a"] }, { any: "Date" }])(
    "of the type %j that is empty is absent if it is optional, and null if it accepts null",
    (shape) => {
      expect(bindOne(shape, x(""), { optional: true })).toBeUndefined();
      expect(bindOne(shape, x(""), { nullable: true })).toBeNull();
      expect(bindOne(shape, x(""), { optional: true, nullable: true })).toBeUndefined();
    },
  );

  it("is the last one of its name, as a checkbox after a hidden field", () => {
    expect(bindOne("boolean", x("0", "1"))).toBe(true);
    expect(bindOne("boolean", x("0"))).toBe(false);
    expect(bindOne(STRING, x("a", "b"))).toBe("b");
  });
});

describe("a checkbox", () => {
  it("that is not checked is false, also if its parameter is optional", () => {
    expect(bindOne("boolean", [])).toBe(false);
    expect(bindOne("boolean", [], { optional: true })).toBe(false);
    expect(bindOne(BOOLEAN, [])).toBe(false);
  });

  it("that has to be checked is required", () => {
    expect(bindOne({ literals: [true] }, [])).toEqual(refused(REQUIRED));
  });
});

describe("several fields of one name", () => {
  it("are an array, each item by its type", () => {
    expect(bindOne({ list: { of: STRING } }, x("a", "", "b"))).toEqual(["a", "", "b"]);
    expect(bindOne({ list: { of: INT } }, x("1", "2"))).toEqual([1, 2]);
    expect(bindOne({ list: { of: INT } }, x("1", "x"))).toEqual(refused("Enter a whole number."));
  });

  it("that are missing are an empty array, also of an optional parameter", () => {
    expect(bindOne({ list: { of: STRING } }, [])).toEqual([]);
    expect(bindOne({ list: { of: STRING } }, [], { optional: true })).toEqual([]);
  });

  it("are an array of one for a single field", () => {
    expect(bindOne({ list: { of: STRING } }, x("a"))).toEqual(["a"]);
  });

  it("are a tuple of the declared length", () => {
    const pair: TypeShape = { list: { items: [INT, STRING] } };
    expect(bindOne(pair, x("1", "b"))).toEqual([1, "b"]);
    expect(bindOne(pair, x("1"))).toEqual(refused("This value is not valid."));
    expect(bindOne(pair, x("1", "b", "c"))).toEqual(refused("This value is not valid."));
    expect(bindOne(pair, [])).toEqual(refused(REQUIRED));
    expect(bindOne({ list: { items: [INT], rest: STRING } }, x("1", "b", "c"))).toEqual([1, "b", "c"]);
  });

  it("are a text or an array for a type that takes both", () => {
    const both: TypeShape = { kinds: ["string"], list: { of: STRING } };
    expect(bindOne(both, x("a"))).toBe("a");
    expect(bindOne(both, x("a", "b"))).toEqual(["a", "b"]);
  });

  it("are an array for a parameter whose type is not known", () => {
    expect(bindOne("any", x("a", "b"))).toEqual(["a", "b"]);
  });

  it("are known as a list, so that what was typed is one", () => {
    const params = [parameter("tags", { list: { of: STRING } }), parameter("name", STRING)];
    expect([
      ...bind(params, [
        ["tags", "a"],
        ["name", "b"],
      ]).lists,
    ]).toEqual(["tags"]);
  });
});

describe("files", () => {
  const file = new File(["a"], "a.txt");
  const other = new File(["b"], "b.txt");

  it("are the values of parameters that take files", () => {
    expect(bindOne("any", x(other, file), { files: "one" })).toBe(file);
    expect(bindOne("any", x(file, other), { files: "many" })).toEqual([file, other]);
    expect(bindOne("any", [], { files: "many" })).toEqual([]);
  });

  it("are required, unless the parameter is optional or accepts null", () => {
    expect(bindOne("any", [], { files: "one" })).toEqual(refused("Choose a file."));
    expect(bindOne("any", [], { files: "one", optional: true })).toBeUndefined();
    expect(bindOne("any", [], { files: "one", nullable: true })).toBeNull();
  });

  it("are never the value of another parameter, and a text is never a file [REQUEST-8]", () => {
    expect(bindOne("any", x(file))).toEqual(refused(REQUIRED));
    expect(bindOne(STRING, x(file))).toEqual(refused(REQUIRED));
    expect(bindOne({ list: { of: STRING } }, x(file, "a"))).toEqual(["a"]);
    expect(bindOne("any", x("text"), { files: "one" })).toEqual(refused("Choose a file."));
    expect(bindOne("any", x("text"), { files: "many" })).toEqual([]);
  });
});

describe("the arguments of a form", () => {
  it("are all reported at once, in the order of the parameters", () => {
    const params = [parameter("a", "int"), parameter("b", STRING), parameter("c", "float")];
    const { errors, refused } = bind(params, [
      ["c", "x"],
      ["a", "x"],
    ]);
    expect(Object.entries(errors)).toEqual([
      ["a", "Enter a whole number."],
      ["b", REQUIRED],
      ["c", "Enter a number."],
    ]);
    expect([...refused]).toEqual(["a", "b", "c"]);
  });

  it("ignore fields that are no parameter [REQUEST-6]", () => {
    expect(
      bind(
        [parameter("a", "int")],
        [
          ["a", "1"],
          ["admin", "1"],
          ["toString", "1"],
        ],
      ).args,
    ).toEqual([1]);
  });

  it("are one object without a prototype for a keyed function", () => {
    const { args } = bind([parameter("a", "int"), parameter("constructor", STRING, { optional: true })], [["a", "1"]], {
      keyed: true,
    });
    expect(args).toEqual([{ a: 1 }]);
    expect(Reflect.get(args[0] as object, "constructor")).toBeUndefined();
  });

  it("leave literals to a schema, and numbers not", () => {
    const params = [parameter("a", { literals: ["x"] }), parameter("b", "int")];
    expect(
      bind(
        params,
        [
          ["a", "y"],
          ["b", "1"],
        ],
        { schemas: ["a", "b"] },
      ).args,
    ).toEqual(["y", 1]);
    expect(
      bind(
        params,
        [
          ["a", "y"],
          ["b", "z"],
        ],
        { schemas: ["a", "b"] },
      ).errors,
    ).toEqual({ b: "Enter a whole number." });
  });
});

describe("fields of a recursive type", () => {
  const tree: TypeShape = {
    object: {
      fields: [
        ["name", STRING],
        ["children", { list: { of: { ref: 0 } } }],
      ],
    },
  };
  const params = [parameter("tree", { ref: 0 }), parameter("other", { any: "" })];
  /** Binds items without a name to a tree without one. The other parameter is missing too. */
  const bindItems = (count: number) => {
    const entries = Array.from({ length: count }, (_, at): Entries[number] => [`tree.children.${at}.x`, "x"]);
    return bind(params, entries, { shapes: [tree] });
  };

  it.each([997, 998, 999, 1_500])("have a message each, at most 1,000 in all, for %i items", (count) => {
    expect(Object.keys(bindItems(count).errors)).toHaveLength(Math.min(count + 2, 1_000));
  });

  it("leave the parameters after them refused when there are more messages than are kept", () => {
    expect([...bindItems(1_500).refused]).toEqual(["tree", "other"]);
  });
});
