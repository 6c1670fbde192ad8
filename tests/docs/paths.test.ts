/** CONTRIBUTING.md is short, and its lists of "Four paths through the code" name files and functions that exist. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "vite";
import { describe, expect, test } from "vitest";
import { isSyntaxNode, type SyntaxNode } from "#test/syntax-nodes";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** One step of a list: "1. `src/x/y.ts`: `Class.method` what it does". */
interface Step {
  readonly number: number;
  readonly file: string;
  /** The name of the function, after the names of the class or the functions around it. */
  readonly path: readonly string[];
}

const STEP = /^(\d+)\. `(src\/[\w./-]+\.tsx?)`: `([\w$#.]+)` \S/;

/** Returns the numbered lists of a text; `null` in place of an item that has another form. */
function listsIn(text: string): (Step | null)[][] {
  const lists: (Step | null)[][] = [];
  let isInList = false;
  for (const line of text.split("\n")) {
    if (/^\d+\. /.test(line)) {
      if (!isInList) lists.push([]);
      const [, number, file = "", name = ""] = STEP.exec(line) ?? [];
      lists.at(-1)?.push(number ? { number: Number(number), file, path: name.split(".") } : null);
    }
    isInList = /^\d+\. /.test(line);
  }
  return lists;
}

/** Returns every class and function that a module defines, each with the names around it: `["App", "start"]`. */
function definitionsIn(code: string, lang: "ts" | "tsx"): string[][] {
  const definitions: string[][] = [];
  const visit = (value: unknown, outer: readonly string[]): void => {
    if (Array.isArray(value)) for (const each of value) visit(each, outer);
    if (!isSyntaxNode(value)) return;
    const name = nameOf(value);
    const inner = name === undefined ? outer : [...outer, name];
    if (name !== undefined && isDefinition(value)) definitions.push([...inner]);
    for (const child of Object.values(value)) visit(child, inner);
  };
  visit(parseAst(code, { lang }), []);
  return definitions;
}

/** Returns the name that a declaration, a class member or a property gives to what it contains. */
function nameOf({ type, id, key }: SyntaxNode): string | undefined {
  const isMember = /^(MethodDefinition|PropertyDefinition|Property)$/.test(type);
  const isDeclared = /^(FunctionDeclaration|ClassDeclaration|VariableDeclarator)$/.test(type);
  const nameNode = isMember ? key : isDeclared ? id : undefined;
  if (!isSyntaxNode(nameNode) || typeof nameNode.name !== "string") return undefined;
  return nameNode.type === "PrivateIdentifier" ? `#${nameNode.name}` : nameNode.name;
}

/** Returns whether a named node defines a class or a function, also one of two: `const handle = a ? () => 1 : b`. */
function isDefinition({ type, init, value }: SyntaxNode): boolean {
  if (/^(FunctionDeclaration|ClassDeclaration|MethodDefinition)$/.test(type)) return true;
  const assigned = init ?? value;
  if (!isSyntaxNode(assigned)) return false;
  const values = assigned.type === "ConditionalExpression" ? [assigned.consequent, assigned.alternate] : [assigned];
  return values.some((each) => isSyntaxNode(each) && /^(Arrow)?FunctionExpression$/.test(each.type));
}

/** Returns whether a definition is the one that a path names: the path may omit outer names. */
function isNamedBy(path: readonly string[], definition: readonly string[]): boolean {
  return path.every((name, index) => name === definition.at(index - path.length));
}

const contributing = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
const [, section = ""] = /\n## Four paths through the code\n(.*?)\n## /s.exec(contributing) ?? [];
const lists = listsIn(section);
const steps = lists.flat().filter((step) => step !== null);

test("CONTRIBUTING.md fits four screens: at most 220 lines", () => {
  expect(contributing.trimEnd().split("\n").length).toBeLessThanOrEqual(220);
});

test("CONTRIBUTING.md names files and folders that exist", () => {
  const paths = [...contributing.matchAll(/`((?:src|tests|scripts|docs)\/[\w./-]+)`/g)].map(([, path = ""]) => path);
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

describe("the paths through the code in CONTRIBUTING.md", () => {
  test("are four lists of at most 12 items, numbered from 1, which have a file, a function and a description", () => {
    expect(lists.length).toBe(4);
    for (const list of lists) expect(list.length).toBeLessThanOrEqual(12);
    for (const list of lists) expect(list.map((step) => step?.number)).toEqual(list.map((_, index) => index + 1));
  });

  test("name files that exist", () => {
    expect(steps.filter(({ file }) => !existsSync(join(root, file)))).toEqual([]);
  });

  test("name functions that their files define", () => {
    const undefinedSteps = steps
      .filter(({ file }) => existsSync(join(root, file)))
      .filter(({ file, path }) => {
        const lang = file.endsWith("x") ? "tsx" : "ts";
        const definitions = definitionsIn(readFileSync(join(root, file), "utf8"), lang);
        return !definitions.some((definition) => isNamedBy(path, definition));
      });
    expect(undefinedSteps.map(({ file, path }) => `${file}: ${path.join(".")}`)).toEqual([]);
  });

  test("name no function twice in one list", () => {
    const repeated = lists.flatMap((list) => {
      const names = list.map((step) => `${step?.file}: ${step?.path.join(".")}`);
      return names.filter((name, index) => names.indexOf(name) !== index);
    });
    expect(repeated).toEqual([]);
  });
});

describe("the check of a path", () => {
  const code = `
    export class Stream { async #write(chunk: string) {} get end() { return 1; } onDrain = () => undefined; }
    export const open = () => ({ take() {}, limit: 1, close: async () => {} });
    function outer() { const handle = one ? (x: number) => x : other; const count = 2; return handle; }
  `;
  const isDefined = (name: string) =>
    definitionsIn(code, "ts").some((definition) => isNamedBy(name.split("."), definition));

  test.each(["Stream", "Stream.#write", "Stream.onDrain", "open", "open.take", "take", "open.close", "outer.handle"])(
    "finds %s",
    (name) => {
      expect(isDefined(name)).toBe(true);
    },
  );

  test.each(["Stream.write", "Other.#write", "open.limit", "outer.count", "outer.take", "handle.outer", "other"])(
    "does not find %s, which is not a function of the module",
    (name) => {
      expect(isDefined(name)).toBe(false);
    },
  );

  test("reads an item of another form as no step", () => {
    expect(listsIn("Text\n1. `src/a.ts`: `run` runs\n2. `src/b.ts` run\n\n1. `src/c.ts`: `C.#go` goes\n")).toEqual([
      [{ number: 1, file: "src/a.ts", path: ["run"] }, null],
      [{ number: 1, file: "src/c.ts", path: ["C", "#go"] }],
    ]);
  });
});
