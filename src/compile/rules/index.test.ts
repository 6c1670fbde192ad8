import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compileErrorOf, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { readModule } from "../modules/index.ts";
import { checkImportedNames } from "./imports.ts";
import { checkModuleAlone, RULES } from "./index.ts";

test("each rule has a name of its own", () => {
  const names = RULES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

/** The rules of the work itself: what cannot be read, and what browser code cannot import. */
const OWN = ["declarations", "browser-imports"];

test.each(RULES.map(({ name }) => name).filter((name) => !OWN.includes(name)))("the rule %s has a file", (name) => {
  expect(existsSync(join(import.meta.dirname, `${name.replace(/:.*/, "")}.ts`))).toBe(true);
});

describe("a module with a mistake", () => {
  const broken = 'import { server, redirect } from "tsweb";\nexport const save = server(() => { redirect("/"); });';

  test("is read, and the rule reports the mistake", async () => {
    const facts = readModule({ file: "/app/src/a.server.ts", code: broken }, "/app");
    expect(facts.functions.map(({ name }) => name)).toEqual(["save"]);
    const error = await compileErrorOf(() => checkModuleAlone(facts));
    expect(error.message).toContain("redirect() returns a value and has no effect here");
  });

  test("is not missing for the modules that import it", async () => {
    const resolver = inMemoryResolver({ "src/a.server.ts": broken });
    const facts = readTestModule(
      "src/b.tsx",
      'import { saved } from "./a.server.ts";\nexport const use = () => saved();',
    );
    const error = await compileErrorOf(() => checkImportedNames(facts, resolver));
    expect(error.message).toBe('src/a.server.ts exports no "saved". Did you mean "save"?');
  });

  test("of its declarations has its other declarations", () => {
    const code =
      'import { server } from "tsweb";\nexport const one = server(() => 1);\nexport let two = server(() => 2);';
    const facts = readModule({ file: "/app/src/a.server.ts", code }, "/app");
    expect(facts.functions.map(({ name }) => name)).toEqual(["one"]);
    expect(facts.mistakes.map(({ message }) => message)).toEqual([
      expect.stringContaining("must be declared with const"),
    ]);
  });
});
