import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestProject } from "#test/test-project";
import { explainError } from "../../errors/index.ts";
import { explainThrownValue } from "./thrown-values.ts";

let project: TestProject;

beforeAll(() => {
  project = TestProject.fromFiles({
    "src/a.server.ts": [
      "export const boom = server(() => {",
      '  throw "no stock";',
      "});",
      "export const twice = page('/t', async () => {",
      "  if (a) throw \"twice\"; else throw 'twice';",
      "});",
      "// throw { status: 404 };",
      "  await Promise.reject();",
      "  throw { status: 404 };",
    ].join("\n"),
    "src/b.server.ts": "export const other = server(() => Promise.reject());\n",
  });
});

afterAll(() => project.remove());

const declaration = { subject: "the page /t", file: "src/a.server.ts", line: 4 };

const explain = async (value: unknown) =>
  explainError(await explainThrownValue(value, project.dir, declaration), project.dir);

describe("a thrown value that is no error", () => {
  it.each([
    [
      "no stock",
      "src/a.server.ts:2:3",
      'no stock\nThis value is no Error, so it has no stack and no line. Write `throw new Error("no stock")`.',
    ],
    [
      undefined,
      "src/a.server.ts:8:17",
      'undefined\nThis value is no Error, so it has no stack and no line. Write `reject(new Error("…"))` or',
    ],
    [
      { status: 404 },
      "src/a.server.ts:9:3",
      "{ status: 404 }\nThis value is no Error. Throw `new NotFound()` of tsweb",
    ],
    ["twice", "src/a.server.ts:4:1", "It was thrown in the page /t, or in what it calls."],
    ["of a package", "src/a.server.ts:4:1", "It was thrown in the page /t, or in what it calls."],
    [null, "src/a.server.ts:4:1", "It was thrown in the page /t"],
  ])("has a location and a fix: %j", async (value, location, message) => {
    const explained = await explain(value);
    expect(explained).toMatchObject({ name: "Thrown value", location, message: expect.stringContaining(message) });
    expect(explained.frame).toMatch(/^> +\d+ \| /m);
  });

  it("has the location of a text without a request too, and that of other values only with one", async () => {
    const unhandled = async (value: unknown) =>
      explainError(await explainThrownValue(value, project.dir), project.dir).location;
    expect(await unhandled("no stock")).toBe("src/a.server.ts:2:3");
    expect(await unhandled(undefined)).toBe("");
  });

  it("stays as it is if it is an error", async () => {
    const error = new Error("x");
    expect(await explainThrownValue(error, project.dir, declaration)).toBe(error);
  });
});
