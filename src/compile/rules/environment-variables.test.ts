import { describe, expect, test } from "vitest";
import { compileErrorAt, readTestModule } from "#test/in-memory-modules";
import { checkEnvironmentVariables } from "./environment-variables.ts";

interface Setting {
  readonly prefixes?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: string;
}

/** Checks a module. Variables with a prefix are exposed if they are set. */
function check(code: string, { prefixes = [], env = {}, file = "src/v.tsx" }: Setting = {}) {
  const constants = ["MODE", "DEV", "PROD", "BASE_URL", "REPLACED"];
  const has = (name: string) =>
    constants.includes(name) || (name in env && prefixes.some((prefix) => name.startsWith(prefix)));
  return checkEnvironmentVariables(readTestModule(file, code), { exposed: { prefixes, has }, root: "/app" }, env);
}

const PUBLIC: Setting = { prefixes: ["PUBLIC_"] };

describe("a variable of import.meta.env that browsers never receive", () => {
  test.each<[string, string, Setting]>([
    [
      "f(«import.meta.env.API_URL);",
      "import.meta.env.API_URL is undefined: browsers receive no variables of the environment. Read process.env.API_URL in the " +
        'page, and pass it as a prop. If everybody may read it, write `envPrefix: "PUBLIC_"` in vite.config.ts and name the ' +
        "variable PUBLIC_API_URL.",
      {},
    ],
    ["f(«import.meta.env.VITE_API_URL);", 'write `envPrefix: "VITE_"` in vite.config.ts.', {}],
    ["f(«import.meta.env.NEXT_PUBLIC_A);", 'write `envPrefix: "NEXT_PUBLIC_"` in vite.config.ts.', {}],
    ['f(«import.meta.env["API_URL"] as string);', "import.meta.env.API_URL is undefined", {}],
    ["f(«(import.meta as any).env.API_URL);", "import.meta.env.API_URL is undefined", {}],
    ["f(«import.meta.env?.API_URL!);", "import.meta.env.API_URL is undefined", {}],
    ["const { «API_URL: url } = import.meta.env;", "import.meta.env.API_URL is undefined", {}],
    ["const A = () => <p>{«import.meta.env.HOME}</p>;", "pass it as a prop", { env: { HOME: "/root" } }],
    ["f(«import.meta.env.API_URL ?? '/api');", "pass it as a prop", { env: { API_URL: "x" } }],
    [
      "f(«import.meta.env.VITE_API_URL);",
      "browsers receive only variables whose names begin with PUBLIC_ (`envPrefix` in the Vite config). Read " +
        "process.env.VITE_API_URL in the page, and pass it as a prop. If everybody may read it, name it PUBLIC_VITE_API_URL.",
      PUBLIC,
    ],
    ["f(«import.meta.env.NODE_ENV);", "Write `import.meta.env.DEV` or `import.meta.env.PROD`.", {}],
    [
      "f(«import.meta.env.DATABASE_URL);",
      "Write `process.env.DATABASE_URL`, which only the server has.",
      { file: "src/db.server.ts" },
    ],
  ])("is rejected: %s", async (code, message, setting) => {
    const error = await compileErrorAt(setting.file ?? "src/v.tsx", code, (text) => check(text, setting));
    expect(error.message).toContain(message);
  });

  test.each<[string, Setting]>([
    ["f(import.meta.env.MODE, import.meta.env.DEV, import.meta.env.PROD, import.meta.env.SSR);", {}],
    ["f(import.meta.env.BASE_URL, import.meta.env.REPLACED, import.meta.env);", {}],
    ["f(import.meta.env.VITE_API ?? '/api');", {}],
    ["f(import.meta.env.VITE_API || '/api', import.meta.env.VITE_API.length);", {}],
    ["if (import.meta.env.DEBUG === '1') f();", {}],
    ["const { DEBUG = '0' } = import.meta.env;", {}],
    ["import.meta.env.API_URL = '/api';", {}],
    ["f(import.meta.env[name]);", {}],
    ["f(env.API_URL, meta.env.API_URL, import.meta.environment.API_URL);", {}],
    ["f('import.meta.env.API_URL'); // import.meta.env.API_URL", {}],
    ["if (import.meta.vitest) f(import.meta.env.API_URL);", {}],
    ["if (import.meta.env.VITEST) f();", {}],
    ["f(import.meta.env.PUBLIC_API);", { ...PUBLIC, env: { PUBLIC_API: "/api" } }],
    ["f(import.meta.env.PUBLIC_API ?? '/api');", PUBLIC],
    ["f(import.meta.env.PUBLIC_API && import.meta.env.PUBLIC_API.length);", PUBLIC],
  ])("is accepted, without a warning: %s", (code, setting) => {
    expect(check(code, setting)).toEqual([]);
  });
});

test("a variable that has the prefix and is not set gets one warning, with its first line", () => {
  expect(check("f();\nf(import.meta.env.PUBLIC_API);\nf(import.meta.env.PUBLIC_API);", PUBLIC)).toEqual([
    "`import.meta.env.PUBLIC_API` at src/v.tsx:2 is undefined, because the variable is not set. Set it in the environment of " +
      "tsweb dev and tsweb build, or test it before its use.",
  ]);
});
