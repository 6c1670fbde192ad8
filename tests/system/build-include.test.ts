/**
 * Files of a project that its build contains in addition to its modules: `include` in package.json, and `project_path`.
 */
import { renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendRequest } from "#test/raw-http";
import { type RunningServer, runScript, runTsweb, startDev, startNode } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const PACKAGE = { name: "site", private: true, type: "module", tsweb: { include: ["drizzle/**", "mail/*.html"] } };

const FILES = {
  "package.json": `${JSON.stringify(PACKAGE)}\n`,
  "src/app.ts":
    'import { App } from "tsweb";\nimport * as pages from "./pages.server.tsx";\nexport default new App({ modules: [pages] });\n',
  "src/files.server.ts":
    'import { readdirSync, readFileSync } from "node:fs";\nimport { project_path } from "tsweb";\n' +
    'export const migrations = () => readdirSync(project_path("drizzle")).filter((name) => name.endsWith(".sql")).sort().join();\n' +
    'export const greeting = () => readFileSync(project_path("mail/hello.html"), "utf8");\n' +
    'export const terms = () => readFileSync("terms.txt", "utf8");\n' +
    'export const logo = () => readFileSync(new URL("./logo.txt", import.meta.url), "utf8");\n',
  "src/pages.server.tsx":
    'import { page } from "tsweb";\nimport { greeting, logo, migrations, terms } from "./files.server.ts";\n' +
    'export const home = page("/", () => <p>{migrations() + ":" + greeting()}</p>);\n' +
    'export const other = page("/other", () => <p>{terms() + logo()}</p>);\n',
  "src/logo.txt": "logo",
  "terms.txt": "terms",
  "drizzle/0000_users.sql": "create table users();",
  "drizzle/0001_posts.sql": "create table posts();",
  "drizzle/.env.local": "SECRET=secret",
  "mail/hello.html": "Hello",
  "mail/draft.txt": "draft",
};

const SHOWN = "<p>0000_users.sql,0001_posts.sql:Hello</p>";

let project: TestProject;
let output: string;
let moved: string;
let built: RunningServer;

beforeAll(async () => {
  project = TestProject.fromFiles(FILES);
  const result = await runTsweb(project.dir, ["build"]);
  expect([result.code, result.output]).toEqual([0, expect.any(String)]);
  output = result.output;
  moved = `${project.dir}-moved`;
  renameSync(project.file("dist"), moved);
  built = await startNode(tmpdir(), [join(moved, "server.mjs")], { WEB_ENV: "development" });
});

afterAll(async () => {
  const code = await built?.stop();
  project?.remove();
  rmSync(moved, { recursive: true, force: true });
  expect(code).toBe(0);
});

describe("a build with include", () => {
  it("prints what it has copied, and what it has not", () => {
    expect(output).toContain("Copied into dist: drizzle/0000_users.sql, drizzle/0001_posts.sql, mail/hello.html\n");
    expect(output).toContain("Not copied, because they contain environment variables: drizzle/.env.local\n");
  });

  it("warns about files that server modules read, and that are not in it", () => {
    const warnings = output.split("\n").filter((line) => line.includes(" reads "));
    expect(warnings).toEqual([
      expect.stringMatching(/src\/files\.server\.ts reads terms\.txt, .*not copied.*project_path\("terms\.txt"\)\.$/),
      expect.stringMatching(
        /src\/files\.server\.ts reads src\/logo\.txt, .*not copied.*project_path\("src\/logo\.txt"\)\.$/,
      ),
    ]);
  });

  it("has the files, wherever it was moved to and whatever the current folder is", async () => {
    expect(await (await fetch(built.address)).text()).toContain(SHOWN);
  });

  it("serves none of the files to browsers, nor any other file of the server [RESPONSE-24]", async () => {
    for (const path of [
      ...["/drizzle/0000_users.sql", "/mail/hello.html", "/app.mjs", "/server.mjs", "/manifest.mjs", "/app.mjs.map"],
      ...[
        "/../app.mjs",
        "/assets/../../app.mjs",
        "/%2e%2e/app.mjs",
        "/..%2fapp.mjs",
        "/..%5capp.mjs",
        "/client/../app.mjs",
      ],
      ...["/assets/..%2f..%2fdrizzle/0000_users.sql", "/dist/app.mjs", "//app.mjs"],
    ]) {
      const { status, body } = await sendRequest(built.address, `GET ${path} HTTP/1.1`, "Host: localhost");
      expect([path, [308, 400, 404].includes(status)]).toEqual([path, true]);
      expect(body).not.toMatch(/create table|buildManifest|import /);
    }
  });
});

it("project_path finds the files in development, and in scripts", async () => {
  const dev = await startDev(project.dir);
  expect(await (await fetch(dev.address)).text()).toContain(SHOWN);
  expect(await dev.stop()).toBe(0);
  project.write("script.ts", 'import { migrations } from "./src/files.server.ts";\nconsole.log(migrations());\n');
  expect(await runScript(project.dir, ["script.ts"])).toBe("0000_users.sql,0001_posts.sql\n");
});

it("a link out of the project fails the build, and the previous build stays", async () => {
  const other = TestProject.fromFiles({ ...FILES, "dist/app.mjs": "previous" });
  symlinkSync(tmpdir(), other.file("drizzle/linked"));
  const { code, output: text } = await runTsweb(other.dir, ["build"]);
  expect([code, text.trim()]).toEqual([
    1,
    expect.stringMatching(/^package\.json: "include" matches drizzle\/linked, a link to /),
  ]);
  expect(other.read("dist/app.mjs")).toBe("previous");
  other.remove();
});
