import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { parseMarkedCode } from "#test/in-memory-modules";
import { Project } from "./project.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

beforeAll(() => {
  if (!existsSync(`${repository}/dist/compile/register.js`)) throw new Error("tsweb is not built. Run npm run build.");
});

/** Runs a module of a project with `node --import tsweb/register`. */
function run(files: Record<string, string>, main: string) {
  const project = new Project(files);
  project.install("tsweb", "vitest");
  // Remove the variables of the test runner.
  const { NODE_ENV: _env, NODE_OPTIONS: _options, VITEST: _vitest, ...env } = process.env;
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--import", "tsweb/register", main], {
    cwd: project.root,
    env,
    encoding: "utf8",
  });
  return { stdout, stderr, status, project };
}

const SERVER = 'import { server, type int } from "tsweb";\nexport const double = server(async (n: int) => n * 2);\n';

describe("node --import tsweb/register", () => {
  test("compiles TypeScript and JSX", () => {
    const { stdout, stderr } = run(
      {
        "package.json": '{ "type": "module" }',
        "src/a.server.ts": SERVER,
        "src/main.tsx":
          'import { double } from "./a.server.ts";\nimport "./style.css";\nconst p = <p class="x">{1}</p>;\nconsole.log(double.name, typeof p.type, p.props.class);',
        "src/style.css": "p { color: red }",
      },
      "src/main.tsx",
    );
    expect(stderr).toBe("");
    expect(stdout).toBe("double string x\n");
  });

  test("resolves modules without an extension, and .js to TypeScript", () => {
    const { stdout, stderr } = run(
      {
        "src/main.ts":
          'import { a } from "./a";\nimport { b } from "./b.js";\nimport { c } from "./c";\nconsole.log(a, b, c);',
        "src/a.ts": "export const a: number = 1;",
        "src/b.ts": "export const b: number = 2;",
        "src/c/index.ts": "export const c: number = 3;",
      },
      "src/main.ts",
    );
    expect(stderr).toBe("");
    expect(stdout).toBe("1 2 3\n");
  });

  test("resolves the paths of tsconfig.json, also in scripts that it does not include, and its types", () => {
    const { stdout, stderr } = run(
      {
        "package.json": '{ "type": "module", "imports": { "#lib/*": "./src/lib/*" } }',
        "tsconfig.json": '{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } }, "include": ["src"] }',
        "scripts/main.ts":
          'import { add } from "@/users.server";\nimport { two } from "#lib/two.ts";\nconsole.log(add.name, two);',
        "src/app.ts": 'import { App } from "tsweb";\nexport default new App({ modules: [] });',
        "src/users.server.ts":
          'import { server } from "tsweb";\nimport type { User } from "@/lib/user.ts";\nimport { one } from "@/lib/one.js";\nexport const add = server((user: User) => [user, one]);',
        "src/lib/user.ts": "export interface User { age: number }",
        "src/lib/one.ts": "export const one = 1;",
        "src/lib/two.ts": "export const two = 2;",
      },
      "scripts/main.ts",
    );
    expect(stderr).toBe("");
    expect(stdout).toBe("add 2\n");
  });

  test("compiles server modules in JavaScript", () => {
    const { stdout, stderr } = run(
      {
        "package.json": '{ "type": "module" }',
        "src/a.server.js": 'import { server } from "tsweb";\nexport const f = server((n = 1) => n);',
        "src/main.js": 'import { f } from "./a.server.js";\nconsole.log(f.name);',
      },
      "src/main.js",
    );
    expect(stderr).toBe("");
    expect(stdout).toBe("f\n");
  });

  test("maps stacks back to the lines of the source", () => {
    const { stderr, status, project } = run(
      {
        "src/main.ts":
          "interface A {\n  a: string;\n}\n\nfunction fail(a: A): never {\n  throw new Error(a.a);\n}\n\nfail({ a: 'x' });",
      },
      "src/main.ts",
    );
    expect(status).toBe(1);
    expect(stderr).toContain(`${project.file("src/main.ts")}:6:9`);
    expect(stderr).toContain(`${project.file("src/main.ts")}:9:1`);
  });

  const rejected: [title: string, file: string, code: string, message: string][] = [
    [
      "a declaration as a default export",
      "src/main.server.ts",
      'import { server } from "tsweb";\nexport default «server(() => 1);',
      "a default export has none",
    ],
    [
      "a server call in markup",
      "src/main.server.tsx",
      'import { double } from "./a.server";\nexport const A = () => <p>{«double(1)}</p>;',
      "cannot be used in markup",
    ],
    [
      "a function in the markup of a page",
      "src/main.server.tsx",
      "export const A = () => <p «onClick={() => 1} />;",
      "This function would never be called",
    ],
  ];
  test.each(rejected)("rejects %s and prints its location", (_title, file, text, message) => {
    const { code, location } = parseMarkedCode(text);
    const { stderr, status, project } = run({ "src/a.server.ts": SERVER, [file]: code }, file);
    expect(status).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).toContain(`${project.file(file)}:${location?.line}:${(location?.column ?? 0) + 1}`);
    expect(stderr).toContain("^");
  });

  test("reports a missing module with the error of Node", () => {
    const { stderr, status } = run({ "src/main.ts": 'import "./missing.ts";' }, "src/main.ts");
    expect(status).toBe(1);
    expect(stderr).toContain("ERR_MODULE_NOT_FOUND");
  });
});

describe("Vitest with the plugin of tsweb/vite", () => {
  test.each(["node", "a browser environment"])(
    "runs server modules as server code, and resolves the paths of tsconfig.json, in %s",
    (environment) => {
      const project = new Project({
        "package.json": '{ "type": "module" }',
        "vitest.config.ts": `import { tsweb } from "tsweb/vite";\nexport default { plugins: [tsweb()], test: { environment: ${environment === "node" ? '"node"' : '"./browser.ts"'} } };`,
        "browser.ts":
          'export default { name: "browser", viteEnvironment: "client", setup: () => ({ teardown() {} }) };',
        "tsconfig.json": '{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } }, "include": ["src"] }',
        "src/app.ts": 'import { App } from "tsweb";\nexport default new App({ modules: [] });',
        "src/a.server.ts": `${SERVER}export const secret = 42;\n`,
        "src/view.tsx": 'import { view } from "tsweb/browser";\nexport const View = view(() => <p />);',
        "tests/a.test.tsx": `import { expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { double, secret } from "@/a.server.ts";
import { View } from "@/view";
test("it", async () => {
  expect(double.name).toBe("double");
  expect(secret).toBe(42);
  expect((<View />).type).toBe(View);
  expect(readFileSync).toBeTypeOf("function");
});`,
      });
      project.install("tsweb", "vitest");
      const {
        VITEST: _vitest,
        VITEST_MODE: _mode,
        VITEST_POOL_ID: _pool,
        VITEST_WORKER_ID: _worker,
        NODE_ENV: _env,
        ...env
      } = process.env;
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        [`${repository}/node_modules/vitest/vitest.mjs`, "run", "--reporter=json"],
        { cwd: project.root, env, encoding: "utf8" },
      );
      expect(`${stdout}${stderr}`).toContain('"numPassedTests":1');
      expect(status).toBe(0);
    },
  );
});
