import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { parseMarkedCode } from "#test/in-memory-modules";
import { TestProject } from "#test/test-project";
import { Project } from "./project.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

beforeAll(() => {
  if (!existsSync(`${repository}/dist/compile/register.js`)) throw new Error("tsweb is not built. Run npm run build.");
});

/** A module that is run, and the files of its project, by their paths. */
interface Case {
  readonly main: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Creates a project with a case in each folder. */
function createCases(cases: Readonly<Record<string, Case>>): Project {
  const entries = Object.entries(cases).flatMap(([folder, { files }]) =>
    Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]),
  );
  const project = new Project(Object.fromEntries(entries));
  project.install("tsweb", "vitest");
  return project;
}

/** Runs a module of a folder with `node --import tsweb/register`. */
function run(dir: string, main: string) {
  // Remove the variables of the test runner.
  const { NODE_ENV: _env, NODE_OPTIONS: _options, VITEST: _vitest, ...env } = process.env;
  return spawnSync(process.execPath, ["--import", "tsweb/register", main], { cwd: dir, env, encoding: "utf8" });
}

/**
 * Runs the modules of all cases in one process. If one fails, its error is thrown again in the end, as an uncaught one.
 *
 * @returns what each has printed or how its import has failed, by its folder
 */
function runCases(project: Project, cases: Readonly<Record<string, Case>>) {
  const mains = Object.entries(cases).map(([folder, { main }]) => [folder, `./${folder}/${main}`]);
  project.write(
    "all.mjs",
    `import { writeSync } from "node:fs";
    import { format } from "node:util";
    const printed = {};
    const errors = [];
    for (const [folder, main] of ${JSON.stringify(mains)}) {
      const lines = [];
      console.log = (...values) => lines.push(format(...values));
      await import(main).catch((error) => {
        errors.push(error);
        lines.push(format(error));
      });
      printed[folder] = lines.join("\\n");
    }
    writeSync(1, JSON.stringify(printed));
    if (errors.length > 0) throw errors[0];`,
  );
  const { stdout, stderr, status } = run(project.root, "all.mjs");
  const printed: Record<string, string> = JSON.parse(stdout);
  return { printed, stderr, status };
}

const SERVER = 'import { server, type int } from "tsweb";\nexport const double = server(async (n: int) => n * 2);\n';

const ACCEPTED = {
  markup: {
    main: "src/main.tsx",
    files: {
      "package.json": '{ "type": "module" }',
      "src/a.server.ts": SERVER,
      "src/main.tsx":
        'import { double } from "./a.server.ts";\nimport "./style.css";\nconst p = <p class="x">{1}</p>;\nconsole.log(double.name, typeof p.type, p.props.class);',
      "src/style.css": "p { color: red }",
    },
  },
  extensions: {
    main: "src/main.ts",
    files: {
      "src/main.ts":
        'import { a } from "./a";\nimport { b } from "./b.js";\nimport { c } from "./c";\nconsole.log(a, b, c);',
      "src/a.ts": "export const a: number = 1;",
      "src/b.ts": "export const b: number = 2;",
      "src/c/index.ts": "export const c: number = 3;",
    },
  },
  javascript: {
    main: "src/main.js",
    files: {
      "package.json": '{ "type": "module" }',
      "src/a.server.js": 'import { server } from "tsweb";\nexport const f = server((n = 1) => n);',
      "src/main.js": 'import { f } from "./a.server.js";\nconsole.log(f.name);',
    },
  },
} satisfies Record<string, Case>;

const PATHS = {
  "package.json": '{ "type": "module", "imports": { "#lib/*": "./src/lib/*" } }',
  "tsconfig.json": '{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } }, "include": ["src"] }',
  "scripts/main.ts":
    'import { add } from "@/users.server";\nimport { two } from "#lib/two.ts";\nconsole.log(add.name, two);\nawait import("#lib/fail.ts");',
  "src/app.ts": 'import { App } from "tsweb";\nexport default new App({ modules: [] });',
  "src/users.server.ts":
    'import { server } from "tsweb";\nimport type { User } from "@/lib/user.ts";\nimport { one } from "@/lib/one.js";\nexport const add = server((user: User) => [user, one]);',
  "src/lib/user.ts": "export interface User { age: number }",
  "src/lib/one.ts": "export const one = 1;",
  "src/lib/two.ts": "export const two = 2;",
  "src/lib/fail.ts":
    "interface A {\n  a: string;\n}\n\nfunction fail(a: A): never {\n  throw new Error(a.a);\n}\n\nfail({ a: 'x' });",
};

describe("node --import tsweb/register", () => {
  let accepted: ReturnType<typeof runCases>;
  beforeAll(() => {
    accepted = runCases(createCases(ACCEPTED), ACCEPTED);
    expect(accepted.stderr).toBe("");
  });

  test("compiles TypeScript and JSX", () => {
    expect(accepted.printed.markup).toBe("double string x");
  });

  test("resolves modules without an extension, and .js to TypeScript", () => {
    expect(accepted.printed.extensions).toBe("1 2 3");
  });

  test("resolves the paths of tsconfig.json, also in scripts that it does not include, and maps stacks back to the source", () => {
    const project = new Project(PATHS);
    project.install("tsweb", "vitest");
    const { stdout, stderr, status } = run(project.root, "scripts/main.ts");
    expect(stdout).toBe("add 2\n");
    expect(stderr.startsWith(`${project.file("src/lib/fail.ts")}:6\n`), stderr).toBe(true); // no warning is before it
    expect(stderr).toContain(`${project.file("src/lib/fail.ts")}:6:9`);
    expect(stderr).toContain(`${project.file("src/lib/fail.ts")}:9:1`);
    expect(status).toBe(1);
  });

  test("compiles server modules in JavaScript", () => {
    expect(accepted.printed.javascript).toBe("f");
  });

  const rejected = [
    {
      title: "a declaration as a default export",
      file: "src/main.server.ts",
      code: 'import { server } from "tsweb";\nexport default «server(() => 1);',
      message: "a default export has none",
    },
    {
      title: "a server call in markup",
      file: "src/main.server.tsx",
      code: 'import { double } from "./a.server";\nexport const A = () => <p>{«double(1)}</p>;',
      message: "cannot be used in markup",
    },
    {
      title: "a function in the markup of a page",
      file: "src/main.server.tsx",
      code: "export const A = () => <p «onClick={() => 1} />;",
      message: "This function would never be called",
    },
  ];

  test("rejects mistakes and prints their locations, and reports a missing module", () => {
    const entries = rejected.map(({ file, code }, index) => {
      const files = { "src/a.server.ts": SERVER, [file]: parseMarkedCode(code).code };
      return [`mistake-${index}`, { main: file, files }] as const;
    });
    const missing = { main: "src/main.ts", files: { "src/main.ts": 'import "./missing.ts";' } };
    const cases: Record<string, Case> = { ...Object.fromEntries(entries), missing };
    const project = createCases(cases);
    const { printed, stderr, status } = runCases(project, cases);
    const expectError = (output: string | undefined, index: number) => {
      const { title = "", file = "", code = "", message } = rejected[index] ?? {};
      const { location } = parseMarkedCode(code);
      expect(output, title).toContain(message);
      const path = project.file(`mistake-${index}/${file}`);
      expect(output, title).toContain(`${path}:${location?.line}:${(location?.column ?? 0) + 1}`);
      expect(output, title).toContain("^");
    };
    for (const index of rejected.keys()) expectError(printed[`mistake-${index}`], index);
    expectError(stderr, 0); // uncaught
    expect(status).toBe(1);
    expect(printed.missing).toContain("ERR_MODULE_NOT_FOUND"); // the error of Node
  });
});

const ENVIRONMENTS = { node: '"node"', "a browser environment": '"./browser.ts"' };

describe("Vitest with the plugin of tsweb/vite", () => {
  /** The status of the test in each environment. One process of Vitest runs both. */
  let statuses: Record<string, string>;

  beforeAll(() => {
    const projects = Object.entries(ENVIRONMENTS).map(
      ([name, environment]) =>
        `{ plugins: [tsweb()], test: { name: "${name}", environment: ${environment}, env: { ENVIRONMENT: "${name}" } } }`,
    );
    const project = TestProject.fromFiles({
      "vitest.config.ts": `import { tsweb } from "tsweb/vite";\nexport default { test: { projects: [${projects}] } };`,
      "browser.ts": 'export default { name: "browser", viteEnvironment: "client", setup: () => ({ teardown() {} }) };',
      "tsconfig.json": '{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } }, "include": ["src"] }',
      "src/app.ts": 'import { App } from "tsweb";\nexport default new App({ modules: [] });',
      "src/a.server.ts": `${SERVER}export const secret = 42;\n`,
      "src/view.tsx": 'import { view } from "tsweb/browser";\nexport const View = view(() => <p />);',
      "tests/a.test.tsx": `import { expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { double, secret } from "@/a.server.ts";
import { View } from "@/view";
test(process.env.ENVIRONMENT, async () => {
  expect(double.name).toBe("double");
  expect(secret).toBe(42);
  expect((<View />).type).toBe(View);
  expect(readFileSync).toBeTypeOf("function");
});`,
    });
    project.installTsweb(); // Vitest would compile the modules of a linked package
    project.linkPackages(repository, ["vitest"]);
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^VITEST|^NODE_ENV$/.test(name)));
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [`${repository}/node_modules/vitest/vitest.mjs`, "run", "--reporter=json"],
      { cwd: project.dir, env, encoding: "utf8" },
    );
    project.remove();
    expect(stdout, stderr).toContain('"numTotalTests":2');
    const { testResults }: { testResults: { assertionResults: { title: string; status: string }[] }[] } =
      JSON.parse(stdout);
    const results = testResults.flatMap(({ assertionResults }) => assertionResults);
    statuses = Object.fromEntries(results.map(({ title, status }) => [title, status]));
  });

  test.each(Object.keys(ENVIRONMENTS))(
    "runs server modules as server code, and resolves the paths of tsconfig.json, in %s",
    (environment) => {
      expect(statuses[environment]).toBe("passed");
    },
  );
});
