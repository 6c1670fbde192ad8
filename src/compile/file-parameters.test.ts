import { describe, expect, it } from "vitest";
import { compileErrorOf, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { strictSignatures, strictSignaturesWithin } from "./server-code.ts";

const IMPORT = 'import { server } from "tsweb";\n';

function parametersOf(code: string) {
  const [signature] = strictSignaturesWithin(readTestModule("src/a.server.ts", IMPORT + code)).functions;
  return signature?.params ?? [];
}

describe("a parameter that takes files", () => {
  it.each([
    ["File", "one"],
    ["Blob", "one"],
    ["File | Blob", "one"],
    ["File | null", "one"],
    ["File | undefined", "one"],
    ["File[]", "many"],
    ["readonly Blob[]", "many"],
    ["Array<File>", "many"],
    ["File[] | null", "many"],
    ["Photo", "one"],
    ["Photos", "many"],
  ])("is declared as %s", (type, files) => {
    const types = "type Photo = File; type Photos = readonly Photo[];\n";
    const [parameter] = parametersOf(`${types}export const f = server((a: ${type}) => 1);`);
    expect(parameter?.files).toBe(files);
  });

  it("may be optional or null", () => {
    const params = parametersOf("export const f = server((b: File | null, a?: File, c?: File[] | null) => 1);");
    expect(params.map(({ optional, nullable }) => [optional, nullable])).toEqual([
      [undefined, true],
      [true, undefined],
      [true, true],
    ]);
  });

  it("may be a key of a destructured object", () => {
    const params = parametersOf("export const f = server(({ a, b }: { a: string; b?: File }) => 1);");
    expect(params.map(({ name, files, optional }) => [name, files, optional])).toEqual([
      ["a", undefined, undefined],
      ["b", "one", true],
    ]);
  });

  it("may have an alias of another module", async () => {
    const facts = readTestModule(
      "src/a.server.ts",
      `${IMPORT}import type { Photo } from "./photo.ts";
      export const f = server((a: Photo) => 1);`,
    );
    const resolver = inMemoryResolver({ "src/photo.ts": "export type Photo = File | null | undefined;" });
    const { functions } = await strictSignatures(facts, resolver);
    expect(functions[0]?.params[0]).toMatchObject({ files: "one", optional: true, nullable: true });
  });

  it.each(["string", "Date", "FileList", "{ File: string }", "Promise<File>"])("is not one of type %s", (type) => {
    const [parameter] = parametersOf(`export const f = server((a: ${type}) => 1);`);
    expect(parameter?.files).toBeUndefined();
  });

  it("is not one whose type File is declared in the module", () => {
    const [parameter] = parametersOf("interface File { path: string }\nexport const f = server((a: File) => 1);");
    expect(parameter?.files).toBeUndefined();
  });
});

describe("the compile step refuses a file", () => {
  it.each([
    "File | string",
    "File | number",
    "{ photo: File }",
    "(File | string)[]",
    "File[][]",
    "[File, File]",
    "Record<string, File>",
    "(File | null)[]",
  ])("inside another type: %s", async (type) => {
    const error = await compileErrorOf(() => parametersOf(`export const f = server((n: string, a: ${type}) => 1);`));
    expect(error.message).toContain('The server function "f" has the parameter "a" with a file inside another type.');
    expect(error.loc.line).toBe(2);
  });

  it("inside a recursive type", async () => {
    const code = "interface Node { file?: File; children: Node[] }\nexport const f = server((a: Node) => 1);";
    expect((await compileErrorOf(() => parametersOf(code))).message).toContain("a file inside another type");
  });

  it("as a parameter of a stream", async () => {
    const error = await compileErrorOf(() =>
      parametersOf("export const f = server(function* (a: File) { yield 1; });"),
    );
    expect(error.message).toContain('The server function "f" streams its result');
  });
});
