import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TestProject } from "#test/test-project";
import { describeCheck, envFileNotes, productionProblems, unusedVariableNotes } from "./check.ts";

const SECRET = "8f1d0c3b5a79264e8f1d0c3b5a79264f17e2d4c6b8a09f3e5d7c1b2a4f6e8d0c";
const READY = {
  WEB_AUTH_SECRET: SECRET,
  WEB_COOKIE_SECURE: "1",
  WEB_TRUST_PROXY: "1",
  WEB_ORIGIN: "https://shop.example",
};
const problemVariables = (env: Record<string, string | undefined>) =>
  productionProblems({ ...READY, ...env }).map(({ variable }) => variable);

describe("productionProblems", () => {
  it.each([
    ["with everything required", {}],
    ["with WEB_ENV=production", { WEB_ENV: "production" }],
    ["behind two proxies", { WEB_TRUST_PROXY: "2" }],
    ["with several processes, for an application that installs a bus", { WEB_WORKERS: "4" }],
    ["with several processes and a bus", { WEB_WORKERS: "4", WEB_BUS_URL: "redis://localhost" }],
    [
      "with every variable",
      { WEB_CSRF_SECRET: SECRET, WEB_AUTH_SECRET_PREVIOUS: SECRET, WEB_ORIGIN: "https://a.example" },
    ],
  ])("accepts an environment %s", (_what, env) => {
    expect(problemVariables(env)).toEqual([]);
  });

  it.each<[string, Record<string, string | undefined>, string[]]>([
    ["no secret", { WEB_AUTH_SECRET: undefined }, ["WEB_AUTH_SECRET"]],
    ["an empty secret", { WEB_AUTH_SECRET: "" }, ["WEB_AUTH_SECRET"]],
    ["a short secret", { WEB_AUTH_SECRET: SECRET.slice(2) }, ["WEB_AUTH_SECRET"]],
    ["a secret that repeats a pattern", { WEB_AUTH_SECRET: "ab".repeat(32) }, ["WEB_AUTH_SECRET"]],
    ["a realm with a space", { WEB_REALM: "the shop" }, ["WEB_REALM"]],
    ["a weak secret for CSRF tokens", { WEB_CSRF_SECRET: "00".repeat(32) }, ["WEB_CSRF_SECRET"]],
    ["cookies over plain HTTP", { WEB_COOKIE_SECURE: undefined }, ["WEB_COOKIE_SECURE"]],
    ["cookies over plain HTTP, explicitly", { WEB_COOKIE_SECURE: "0" }, ["WEB_COOKIE_SECURE"]],
    ["an invalid value for cookies", { WEB_COOKIE_SECURE: "yes" }, ["WEB_COOKIE_SECURE"]],
    ["an undeclared proxy", { WEB_TRUST_PROXY: undefined }, ["WEB_TRUST_PROXY"]],
    ["no origin", { WEB_ORIGIN: undefined }, ["WEB_ORIGIN"]],
    ["an empty origin", { WEB_ORIGIN: "" }, ["WEB_ORIGIN"]],
    ["an invalid origin", { WEB_ORIGIN: "shop.example" }, ["WEB_ORIGIN"]],
    ["development", { WEB_ENV: "development" }, ["WEB_ENV"]],
    [
      "development with a weak secret",
      { WEB_ENV: "development", WEB_AUTH_SECRET: "ab".repeat(32) },
      ["WEB_ENV", "WEB_AUTH_SECRET"],
    ],
    ["a misspelled variable", { WEB_WORKER: "4" }, ["WEB_WORKER"]],
    ["a folder for uploads that cannot be created", { WEB_UPLOAD_DIR: "/dev/null/uploads" }, ["WEB_UPLOAD_DIR"]],
    [
      "a misspelled variable, an invalid one and a folder that cannot be created",
      { WEB_ACESS_LOG: "1", WEB_WORKERS: "many", WEB_DATA_DIR: "/dev/null/data" },
      ["WEB_DATA_DIR", "WEB_WORKERS", "WEB_ACESS_LOG"],
    ],
    ["a misspelled mode", { WEB_EVN: "production" }, ["WEB_EVN"]],
    [
      "a misspelled secret",
      { WEB_AUTH_SECRET: undefined, WEB_AUTH_SECERT: SECRET, WEB_EVN: "production" },
      ["WEB_AUTH_SECRET", "WEB_AUTH_SECERT", "WEB_EVN"],
    ],
    [
      "no variables",
      { ...withoutValues(READY) },
      ["WEB_COOKIE_SECURE", "WEB_TRUST_PROXY", "WEB_ORIGIN", "WEB_AUTH_SECRET"],
    ],
  ])("rejects an environment with %s [SESSION-44]", (_what, env, variables) => {
    expect(problemVariables(env)).toEqual(variables);
  });

  it("describes how to fix each problem, and contains no secret", () => {
    for (const { problem, fix } of productionProblems({ WEB_ENV: "development", WEB_AUTH_SECRET: "ab".repeat(32) })) {
      expect(problem).toMatch(/\.$/);
      expect(fix).toMatch(/^(Set|Create|Leave|Serve)/);
      expect(problem + fix).not.toContain("abab");
    }
  });
});

describe("envFileNotes", () => {
  it("names each file of variables in the folder, and how to start a built application with it", () => {
    const folder = mkdtempSync(join(tmpdir(), "tsweb-check-"));
    expect(envFileNotes(folder)).toEqual([]);
    writeFileSync(join(folder, ".env"), "SECRET=do-not-print\n");
    writeFileSync(join(folder, ".env.local"), "");
    writeFileSync(join(folder, ".env.production"), "");
    const notes = envFileNotes(folder);
    rmSync(folder, { recursive: true });
    expect(notes).toEqual([
      expect.stringMatching(/^\.env was not read: .* node --env-file=\.env dist\/server\.mjs$/),
      expect.stringMatching(/^\.env\.local was not read: .* node --env-file=\.env\.local dist\/server\.mjs$/),
    ]);
    expect(notes.join()).not.toContain("do-not-print");
  });
});

function withoutValues(env: Record<string, string>): Record<string, undefined> {
  return Object.fromEntries(Object.keys(env).map((name) => [name, undefined]));
}

describe("describeCheck", () => {
  const nothing = { problems: [], warnings: [], notes: [] };
  const warnings = ["WEB_AUTH_SECRET is unknown to every process of the last day."];
  const READY_TITLE = "This environment is ready for production:";

  it("states that the environment is ready, with status 0 and the bus that was reached", () => {
    expect(describeCheck(nothing)).toMatchObject({ errors: "", status: 0 });
    const { success } = describeCheck({ ...nothing, reached: "redis://cache.internal:6379" });
    expect(success).toContain(READY_TITLE);
    expect(success).toContain("The bus redis://cache.internal:6379 was reached");
  });

  it("does not state it next to a warning, and returns status 2 so that a deployment stops", () => {
    const { errors, success, status } = describeCheck({ ...nothing, warnings });
    expect(errors).toBe(`${warnings[0]}\n`);
    expect(success).not.toContain(READY_TITLE);
    expect(status).toBe(2);
  });

  it("returns status 3 when the bus was unreachable: its host may be misspelled", () => {
    const unreachable = "WEB_BUS_URL was not checked.";
    const { errors, success, status } = describeCheck({ ...nothing, unreachable });
    expect(errors).toBe(`${unreachable}\n`);
    expect(success).not.toContain(READY_TITLE);
    expect(status).toBe(3);
    expect(describeCheck({ ...nothing, unreachable, warnings }).status).toBe(2);
  });

  it("does not state it next to a note, which is no failure", () => {
    const { errors, success, status } = describeCheck({ ...nothing, notes: ["src/app.ts has to install a bus."] });
    expect(errors).toBe("src/app.ts has to install a bus.\n");
    expect(success).not.toContain(READY_TITLE);
    expect(status).toBe(0);
  });

  it("returns status 1 for a problem, also with warnings", () => {
    const problems = [{ variable: "WEB_ORIGIN", problem: "is not set.", fix: "Set it." }];
    const { errors, success, status } = describeCheck({ ...nothing, problems, warnings });
    expect(errors).toContain("WEB_ORIGIN is not set.\n  Set it.\n");
    expect([success, status]).toEqual(["", 1]);
  });
});

describe("unusedVariableNotes", () => {
  it.each(["src/app.ts", "src/nested/names.json", "dist/app.mjs", "vite.config.ts"])(
    "reports a misspelled variable besides the right one, unless %s names it",
    (naming) => {
      const project = TestProject.fromFiles({
        "src/app.ts": "export {};",
        "src/node_modules/a/index.js": "process.env.WEB_ORIGN",
        "README.txt": "WEB_ORIGN",
      });
      const env = { ...READY, WEB_ORIGN: "https://shop.example" };
      expect(unusedVariableNotes(env, project.dir)).toEqual([
        "WEB_ORIGN is no variable of tsweb, and the application does not name it. Did you mean WEB_ORIGIN? Otherwise remove it.",
      ]);
      project.write(naming, 'const name = "WEB_ORIGN";');
      expect(unusedVariableNotes(env, project.dir)).toEqual([]);
      project.remove();
    },
  );

  it("reports nothing in a folder without an application", () => {
    const project = TestProject.fromFiles({ "index.js": "" });
    expect(unusedVariableNotes({ ...READY, WEB_ORIGN: "x" }, project.dir)).toEqual([]);
    project.remove();
  });
});
