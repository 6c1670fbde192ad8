import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { explainViteError } from "./vite-errors.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-vite-errors-")));
const file = (name: string) => join(root, name);
const write = (name: string, text: string) => {
  mkdirSync(dirname(file(name)), { recursive: true });
  writeFileSync(file(name), text);
};
write("src/guests.server.ts", "export const a = 1;");
write("node_modules/installed/package.json", '{ "name": "installed", "exports": { ".": "./index.js" } }');
afterAll(() => rmSync(root, { recursive: true }));

/** The texts with which Vite reports an import: in development on the server and in the browser, and in a build. */
const reports = (specifier: string, importer: string) => [
  { message: `Failed to load url ${specifier} (resolved id: ${specifier}) in ${importer}. Does the file exist?` },
  { message: `Cannot find module '${specifier}' imported from '${importer}'` },
  {
    message: `[vite]: Rolldown failed to resolve import "${specifier}" from "${importer}".\nThis is most likely unintended`,
  },
  { message: `Failed to resolve import "${specifier}" from "src/page.tsx". Does the file exist?` },
  { message: "\u001b[31m[UNRESOLVED_IMPORT]", code: "UNRESOLVED_IMPORT", exporter: specifier, id: importer },
];

describe("explainViteError", () => {
  it.each([
    [
      "./guest.server.ts",
      '"./guest.server.ts" does not exist: there is no file src/guest.server.ts. Did you mean "./guests.server.ts"?',
    ],
    ["./logo.png", '"./logo.png" does not exist: there is no file src/logo.png. Correct the path, or create the file.'],
    [
      "../other/a.ts",
      '"../other/a.ts" does not exist: there is no file other/a.ts. Correct the path, or create the file.',
    ],
    ["nanoid", 'The package "nanoid" is not installed. Install it: npm install nanoid'],
    [
      "tailwindcss",
      'The package "tailwindcss" is not installed. Install it: npm install --save-dev tailwindcss @tailwindcss/vite, and add the plugin to vite.config.ts: plugins: [tailwindcss()].',
    ],
    [
      "express",
      'The package "express" is not installed. tsweb serves the application itself: declare pages with page(), and endpoints with route(). To use it inside a server of your own, install the package and see docs/hosts.md of tsweb.',
    ],
    [
      "@vitejs/plugin-react",
      'The package "@vitejs/plugin-react" is not installed. Remove this plugin: tsweb compiles JSX itself, and renders it with Preact.',
    ],
    ["@scope/name/sub.js", 'The package "@scope/name" is not installed. Install it: npm install @scope/name'],
    [
      "installed/sub",
      'The package "installed" is installed, but "installed/sub" leads to no file of it. Correct the path; "exports" in its package.json lists the valid ones.',
    ],
    ["@/db.ts", '"@/db.ts" matches no file. Correct the path, or add its prefix to "paths" in tsconfig.json.'],
    ["#db", '"#db" matches no file. Correct it, or add it to "imports" in package.json.'],
  ])(
    "reports the import of %j in the same words, whatever the words of Vite, with its location",
    (specifier, message) => {
      write("src/page.tsx", `// imports "${specifier}"\nimport { a } from "${specifier}";\n`);
      for (const error of reports(specifier, file("src/page.tsx"))) {
        const explained = explainViteError(error, root);
        expect(explained, error.message).toMatchObject({
          message,
          loc: { file: file("src/page.tsx"), line: 2, column: 18 },
        });
      }
    },
  );

  it("finds the import of a module that has a syntax error by its text", () => {
    write("src/page.tsx", 'import { a } from "nanoid";\nconst = 1;\n');
    const [error] = reports("nanoid", file("src/page.tsx"));
    expect(error && explainViteError(error, root)).toMatchObject({ loc: { line: 1, column: 18 } });
  });

  it("names the importing file if that does not contain the import any more", () => {
    write("src/page.tsx", "export {};\n");
    for (const error of reports("./logo.png", file("src/page.tsx"))) {
      expect(explainViteError(error, root)?.message).toBe(
        '"./logo.png" does not exist: there is no file src/logo.png. Correct the path, or create the file. Imported by src/page.tsx.',
      );
    }
  });

  const missing = (specifier: string, name: string) =>
    explainViteError(
      { message: `[vite] The requested module '${specifier}' does not provide an export named '${name}'` },
      root,
    );

  it("reports a name that a package does not export, with its location in the module that imports it", () => {
    write(
      "src/a.ts",
      'import { type int, open } from "installed";\nimport type { int as i } from "installed";\nimport { int as other } from "more";\n',
    );
    write(
      "src/lib/b.tsx",
      'import { open } from "installed";\nimport run, {\n  open as o,\n  int,\n} from "installed";\n',
    );
    expect(missing("installed", "int")).toMatchObject({
      message:
        '"installed" exports no value int. If int is a type, write `type int` in the import. Otherwise correct the name.',
      loc: { file: file("src/lib/b.tsx"), line: 4, column: 2 },
    });
    expect(missing("installed", "default")).toMatchObject({
      message: '"installed" has no default export. Import what it exports by name.',
      loc: { file: file("src/lib/b.tsx"), line: 2, column: 7 },
    });
  });

  it("reports such a name without a location if no module of the application imports it", () => {
    const error = missing("installed", "nothing");
    expect(error?.message).toContain('"installed" exports no value nothing.');
    expect(error).not.toHaveProperty("loc");
  });

  it("returns nothing for another error", () => {
    expect(explainViteError({ message: "Disk full" }, root)).toBeUndefined();
  });

  it("reports a tsconfig.json that is not valid JSON, with its location", () => {
    const json = `JSONError { path: "${file("tsconfig.json")}", message: "expected \`,\` or \`]\` at line 4 column 1", line: 4, column: 1 }`;
    expect(explainViteError({ message: `Failed to load tsconfig "tsconfig.json": ${json}` }, root)).toMatchObject({
      message: "This file is not valid JSON: expected `,` or `]`. Correct it.",
      loc: { file: file("tsconfig.json"), line: 4, column: 0 },
    });
  });

  it.each([
    ["expected ident", "This file is not valid JSON: `true`, `false` or `null` is misspelled here."],
    [
      'invalid type: string \\"x\\", expected a map',
      'This value has the wrong type: it is string "x", and must be an object.',
    ],
    ["invalid length 0, expected struct CompilerOptions with 23 elements", "This value has the wrong type."],
  ])("reports a tsconfig.json with an invalid value in plain words: %s", (problem, message) => {
    const json = `JSONError { path: "${file("tsconfig.json")}", message: "${problem} at line 1 column 35", line: 1, column: 35 }`;
    expect(explainViteError({ message: json }, root)).toMatchObject({
      message: `${message} Correct it.`,
      loc: { line: 1, column: 34 },
    });
  });

  it("reports a tsconfig.json that extends a missing file, whose path Vite shortens, with its location", () => {
    write("tsconfig.json", '{\n  "extends": "./base.json"\n}\n');
    expect(explainViteError({ message: "Tsconfig not found base.json" }, root)).toMatchObject({
      loc: { file: file("tsconfig.json"), line: 2, column: 13 },
    });
  });

  it("reports a tsconfig.json that extends a missing one, with its location", () => {
    write("tsconfig.json", '{\n  "extends": "@tsconfig/node22/tsconfig.json"\n}\n');
    expect(explainViteError({ message: "Tsconfig not found @tsconfig/node22/tsconfig.json" }, root)).toMatchObject({
      message:
        'A tsconfig.json extends "@tsconfig/node22/tsconfig.json", which does not exist. Install its package (npm install --save-dev @tsconfig/node22), or correct "extends".',
      loc: { file: file("tsconfig.json"), line: 2, column: 13 },
    });
  });

  it("reports a package.json that is not valid JSON, with its location", () => {
    const text = '{\n  "name": "shop",\n  private: true\n}\n';
    write("package.json", text);
    const problem = jsonError(text);
    expect(explainViteError(problem, root)).toMatchObject({
      message: "package.json is not valid JSON: Expected double-quoted property name. Correct it.",
      loc: { file: file("package.json"), line: 3, column: 2 },
    });
    write("package.json", '{ "name": "shop" }');
    expect(explainViteError(problem, root), "an error of other JSON").toBeUndefined();
    write("package.json", '{ "name": "shop",\n');
    expect(explainViteError(problem, root), "an error of other JSON").toBeUndefined();
    expect(explainViteError(jsonError('{ "name": "shop",\n'), root)).toMatchObject({ loc: { line: 2 } });
  });

  it("reports a missing package that a style sheet imports, with its location", () => {
    write("src/style.css", 'body { color: red; }\n@import "tailwindcss";\n');
    const message = "[postcss] ENOENT: no such file or directory, open 'tailwindcss'";
    expect(explainViteError({ message, id: file("src/style.css?direct") }, root)).toMatchObject({
      message: expect.stringMatching(
        /^The package "tailwindcss" is not installed\. Install it: npm install --save-dev/,
      ),
      loc: { file: file("src/style.css"), line: 2, column: 8 },
    });
    const absolute = "[postcss] ENOENT: no such file or directory, open '/srv/a.css'";
    expect(explainViteError({ message: absolute, id: file("src/style.css") }, root)).toBeUndefined();
  });
});

/** Returns the error with which a text cannot be parsed. */
function jsonError(text: string): Error {
  try {
    JSON.parse(text);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error(`${text} is valid JSON.`);
}
