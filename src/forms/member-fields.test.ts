import { describe, expect, it } from "vitest";
import { BOOLEAN, bind, bindOne, type Entries, INT, parameter, REQUIRED, refused, STRING } from "#test/bind-fields";
import type { TypeShape } from "../protocol/index.ts";

describe("fields with dotted names", () => {
  const ADDRESS: TypeShape = {
    object: {
      fields: [
        ["street", STRING],
        ["zip", INT],
        ["home", BOOLEAN],
      ],
    },
  };

  it("are the members of an object, each by its type", () => {
    const entries: Entries = [
      ["x.street", "Main"],
      ["x.zip", "12"],
      ["x.home", "on"],
    ];
    expect(bindOne(ADDRESS, entries)).toEqual({ street: "Main", zip: 12, home: true });
  });

  it("are reported one by one, with their names", () => {
    expect(bindOne(ADDRESS, [["x.zip", "y"]])).toEqual({
      errors: { "x.street": REQUIRED, "x.zip": "Enter a whole number." },
    });
  });

  it("that the type does not name are left out [REQUEST-5]", () => {
    const entries: Entries = [
      ["x.street", "a"],
      ["x.zip", "1"],
      ["x.admin", "on"],
    ];
    expect(bindOne(ADDRESS, entries)).toEqual({ street: "a", zip: 1, home: false });
  });

  it("are no object if all of them are empty and the object may be missing", () => {
    const entries: Entries = [
      ["x.street", ""],
      ["x.zip", ""],
    ];
    expect(bindOne(ADDRESS, entries, { optional: true })).toBeUndefined();
    expect(bindOne(ADDRESS, entries, { nullable: true })).toBeNull();
    expect(bindOne(ADDRESS, [], { optional: true })).toBeUndefined();
    expect(bindOne(ADDRESS, entries)).toEqual({ errors: { "x.zip": REQUIRED } });
  });

  it("are the items of an array by their numbers", () => {
    const items: TypeShape = { list: { of: ADDRESS } };
    const entries: Entries = [
      ["x.10.street", "b"],
      ["x.10.zip", "2"],
      ["x.2.street", "a"],
      ["x.2.zip", "1"],
    ];
    expect(bindOne(items, entries)).toEqual([
      { street: "a", zip: 1, home: false },
      { street: "b", zip: 2, home: false },
    ]);
    expect(bindOne(items, [["x.2.street", "a"]])).toEqual(refused(REQUIRED, "x.2.zip"));
    expect(
      bindOne(items, [
        ["x.length", "9"],
        ["x.1000000000000.street", "a"],
      ]),
    ).toEqual([]);
  });

  it("are the entries of a record", () => {
    const prices: TypeShape = { object: { fields: [], rest: INT } };
    expect(
      bindOne(prices, [
        ["x.tea", "3"],
        ["x.per day", "4"],
      ]),
    ).toEqual({ tea: 3, "per day": 4 });
    expect(bindOne(prices, [["x.tea", "y"]])).toEqual(refused("Enter a whole number.", "x.tea"));
    expect(bindOne(prices, [])).toEqual({});
  });

  it("select the case of a union by its literal", () => {
    const union: TypeShape = {
      object: {
        by: "kind",
        cases: [
          {
            fields: [
              ["kind", { literals: ["card"] }],
              ["number", INT],
            ],
          },
          {
            fields: [
              ["kind", { literals: ["bank"] }],
              ["iban", STRING],
            ],
          },
        ],
      },
    };
    expect(
      bindOne(union, [
        ["x.kind", "card"],
        ["x.number", "1"],
        ["x.iban", "z"],
      ]),
    ).toEqual({ kind: "card", number: 1 });
    expect(bindOne(union, [["x.kind", "bank"]])).toEqual(refused(REQUIRED, "x.iban"));
    expect(bindOne(union, [["x.kind", "cash"]])).toEqual(refused("Choose one of the options.", "x.kind"));
    expect(bindOne(union, [])).toEqual(refused(REQUIRED, "x.kind"));
  });

  it("are a recursive object as deep as there are fields", () => {
    const shapes: TypeShape[] = [
      {
        object: {
          fields: [
            ["name", STRING],
            ["parent", { ref: 0, optional: true }],
            ["children", { list: { of: { ref: 0 } } }],
          ],
        },
      },
    ];
    const { args, errors } = bind(
      [parameter("x", { ref: 0 })],
      [
        ["x.name", "a"],
        ["x.parent.name", "b"],
        ["x.children.0.name", "c"],
      ],
      { shapes },
    );
    expect(errors).toEqual({});
    expect(args).toEqual([{ name: "a", parent: { name: "b", children: [] }, children: [{ name: "c", children: [] }] }]);
  });

  it("that a recursive object requires without end are refused", () => {
    const shapes: TypeShape[] = [{ object: { fields: [["next", { ref: 0 }]] } }];
    expect(bind([parameter("x", { ref: 0 })], [["x.next.next.y", "1"]], { shapes }).errors).toEqual({
      "x.next.next.next": REQUIRED,
    });
    expect(bind([parameter("x", { ref: 0 })], [], { shapes }).errors).toEqual({ x: REQUIRED });
  });

  it.each(["__proto__", "constructor", "prototype"])("never reach the member %s [REQUEST-7]", (name) => {
    const records: TypeShape = { object: { fields: [], rest: { object: { fields: [], rest: STRING } } } };
    const value = bindOne(records, [
      [`x.${name}.polluted`, "1"],
      [`x.a.${name}`, "2"],
      [`${name}.polluted`, "3"],
      ["x.a.b", "kept"],
    ]);
    expect(JSON.stringify(value)).toBe('{"a":{"b":"kept"}}');
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it("with 64 segments are read, with 65 not", () => {
    const shapes: TypeShape[] = [{ object: { fields: [["a", STRING]], rest: { ref: 0 } } }];
    const nested = (segments: number) => `x${".b".repeat(segments - 2)}.a`;
    const read = (segments: number) =>
      JSON.stringify(bind([parameter("x", { ref: 0, optional: true })], [[nested(segments), "deep"]], { shapes }).args);
    expect(read(64)).toContain("deep");
    expect(read(65)).not.toContain("deep");
  });

  it("with an empty segment are no field", () => {
    expect(
      bindOne({ object: { fields: [], rest: STRING } }, [
        ["x.", "1"],
        ["x..y", "2"],
      ]),
    ).toEqual({});
  });
});
