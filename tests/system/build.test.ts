/**
 * The output of `tsweb build`: for an application that uses every feature, for small applications, and for mistakes.
 */
import { randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { sendRequest } from "#test/raw-http";
import { build, type RunningServer, runTsweb, startNode } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import { TestProject } from "#test/test-project";
import { copyAccounts } from "../browser/accounts-app.ts";
import { launch } from "../browser/chromium.ts";

const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex") };

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function createProject(files?: Readonly<Record<string, string>>): TestProject {
  const project = files ? TestProject.fromFiles(files) : TestProject.copy();
  cleanups.push(() => project.remove());
  return project;
}

/** Runs a build with plain Node in another folder, without packages in it or above it. Returns a function that stops it too. */
async function openInEmptyFolder(dir: string, extraEnv: Readonly<Record<string, string>> = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-built-")));
  cpSync(join(dir, "dist"), join(folder, "app"), { recursive: true });
  const server = await startNode(folder, ["app/server.mjs"], { ...env, ...extraEnv });
  const close = async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { server, close };
}

/** Does the same until the end of the test. */
async function startInEmptyFolder(
  dir: string,
  extraEnv: Readonly<Record<string, string>> = {},
): Promise<RunningServer> {
  const { server, close } = await openInEmptyFolder(dir, extraEnv);
  cleanups.push(close);
  return server;
}

const get = async (server: RunningServer, path: string) =>
  sendRequest(server.address, `GET ${path} HTTP/1.1`, "Host: localhost");

const sheetsOf = (html: string) =>
  [...html.matchAll(/<link rel="stylesheet" href="([^"]+)">/g)].map(([, href]) => href);

const kB = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;

const PAGE = 'import { page } from "tsweb";\nexport const home = page("/", () => <h1>Home</h1>);\n';
const APP =
  'import { App } from "tsweb";\nimport * as pages from "./pages.server.tsx";\nexport default new App({ modules: [pages] });\n';

/**
 * Builds a project with a value of NODE_ENV, and checks that its build is for production: one for development has three times the code.
 *
 * @returns the output of the build
 */
async function buildWith(NODE_ENV: string, { dir }: TestProject): Promise<string> {
  const { code, output } = await runTsweb(dir, ["build"], { NODE_ENV });
  expect(code, output).toBe(0);
  expect(readFileSync(join(dir, "dist/app.mjs"), "utf8").includes(dir)).toBe(false);
  const assets = readdirSync(join(dir, "dist/client/assets")).filter((name) => name.endsWith(".js"));
  const scripts = assets.map((name) => readFileSync(join(dir, "dist/client/assets", name), "utf8")).join("");
  expect(scripts).toContain("onClick"); // of a view
  expect(scripts.length).toBeLessThan(30_000);
  return output;
}

describe("an application that uses every feature", () => {
  let project: TestProject;
  let browser: Browser;
  let output: string;
  let built: Awaited<ReturnType<typeof openInEmptyFolder>>;

  beforeAll(async () => {
    project = TestProject.copy();
    project.write("src/hero.png", PNG);
    project.edit("src/pages.server.tsx", "<h1>No view here</h1>", '<img id="hero" src={hero} alt="Hero" />');
    project.edit(
      "src/pages.server.tsx",
      'import "./pages.css";',
      'import hero from "./hero.png";\nimport "./pages.css";',
    );
    const tsweb = { budget: { script: "0.9 kB", style: "1 MB" } };
    project.write("package.json", JSON.stringify({ name: "site", private: true, type: "module", tsweb }));
    expect(await runTsweb(project.dir, ["build"])).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^package\.json:1:\d+\n"style" of "budget" is "1 MB", which is not a size\./m),
    });
    project.edit("package.json", "1 MB", "100 kB");
    output = await buildWith("test", project);
    [built, browser] = await Promise.all([openInEmptyFolder(project.dir), launch()]);
  });

  afterAll(async () => {
    await Promise.all([browser?.close(), built?.close()]);
    project?.remove();
  });

  /** Opens its pages in the browser, below the base of the application. */
  async function checkInBrowser(server: RunningServer, base: string): Promise<void> {
    const users = new BrowserUsers(browser, {});
    cleanups.push(() => users.closeAll());
    const page = await users.newPage();
    // Browsers request it at the root, which does not belong to an application below a base.
    await page.route("**/favicon.ico", (route) => route.fulfill({ body: "" }));
    await page.goto(`${server.address}${base}/`);
    await page.locator("#counter[data-hydrated=true]").waitFor();
    await page.fill("#name", "Ada");
    await page.click("#greet");
    await page.locator("#greeting", { hasText: "Hello Ada" }).waitFor();
    await page.click("#note");
    await page.locator("#note", { hasText: "Open" }).waitFor();
    const styles = await page.evaluate(() =>
      [
        ["body", "color"],
        ["h1", "color"],
        ["#counter", "border-top-color"],
        ["#note", "color"],
      ].map(([selector = "", property = ""]) => {
        const element = document.querySelector(selector);
        return element && getComputedStyle(element).getPropertyValue(property);
      }),
    );
    expect(styles).toEqual(["rgb(1, 2, 3)", "rgb(10, 20, 30)", "rgb(7, 8, 9)", "rgb(40, 50, 60)"]);
    expect(await page.locator("img").evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(0);

    await page.goto(`${server.address}${base}/moved`);
    expect(new URL(page.url()).pathname).toBe(`${base}/plain`);
    expect(await page.locator("#hero").evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(1);
    expect(await page.locator("script").count()).toBe(0);
    expect(users.problems).toEqual([]);
  }

  it("hydrates in the browser", () => checkInBrowser(built.server, ""));

  it("prints what a browser loads for its pages, and warns about the page that exceeds the budget", async () => {
    const users = new BrowserUsers(browser, {});
    cleanups.push(() => users.closeAll());
    const page = await users.newPage();
    const bodies = new Map<string, Promise<Buffer>>();
    page.on("response", (response) => bodies.set(new URL(response.url()).pathname, response.body()));
    await page.goto(`${built.server.address}/`);
    await page.locator("#counter[data-hydrated=true]").waitFor();
    await page.waitForLoadState("networkidle");
    const sizeOf = async (extension: string) => {
      const files = await Promise.all([...bodies].filter(([path]) => path.endsWith(extension)).map(([, body]) => body));
      return kB(files.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0));
    };
    const [script, style] = await Promise.all([sizeOf(".js"), sizeOf(".css")]);
    const [row = ""] = /^ {2}\/ .*$/m.exec(output) ?? [];
    expect(row.trim().split(/ {2,}/)).toEqual(["/", script, style]);
    expect(output).toMatch(/^ {2}\/plain +– +0\.\d kB$/m);
    expect(output.match(/^ {2}src\/pages\.server\.tsx:\d+: .*$/gm)).toEqual([
      `  src/pages.server.tsx:7: The page / loads ${script} of scripts; the budget is 0.9 kB.`,
    ]);
    const own = "(?:tsweb|preact) \\d\\.\\d kB";
    expect(output).toMatch(new RegExp(`^ {4}The largest: ${own}, ${own}, src/counter\\.tsx 0\\.\\d kB\\.$`, "m"));
  });

  it("contains in its browser files only the views that pages render", () => {
    const unusedText = "never shown on any page";
    expect(project.read("src/never-shown.tsx")).toContain(unusedText);
    const text = readdirSync(project.file("dist/client/assets"))
      .map((file) => readFileSync(project.file(`dist/client/assets/${file}`), "utf8"))
      .join("\n");
    expect(text).toContain("Greet");
    expect(text).not.toContain(unusedText);
  });

  it("contains nothing of the development panel [DEV-8]", () => {
    const texts = readdirSync(project.file("dist"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:m?js|html|css|json)$/.test(entry.name))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
    expect(texts.some((text) => text.includes("#site"))).toBe(true); // the code of the server is among them
    expect(
      texts.filter((text) => /DevelopmentPanel|Recorder|tsweb\.panel|__web\/dev|src\/panel|dist\/panel/.test(text)),
    ).toEqual([]);
  });

  it("imports no package, and contains no path of the machine that built it", () => {
    const files = readdirSync(project.file("dist")).filter((name) => name.endsWith(".mjs"));
    for (const file of files) expect(project.read(`dist/${file}`), file).not.toContain(project.dir);
    expect(existsSync(project.file("dist/node_modules"))).toBe(false);
    for (const file of files)
      expect(project.read(`dist/${file}`), file).not.toMatch(/\bfrom ?"(?!node:|\.\/)[^"]+";?$/m);
  });

  describe("built again with a base, and with packages that contain a copy of React", () => {
    let below: typeof built;

    beforeAll(async () => {
      project.write("dist/stale.mjs", "");
      const runtime =
        'var e=Symbol.for("react.transitional.element");export function jsx(type,props){return{$$typeof:e,type,props}}';
      const badge = 'import { jsx } from "./runtime.js";\nexport const Badge = () => jsx("b", { children: "new" });\n';
      for (const name of ["badge", "mounted", "unused"]) {
        const renderer = name === "mounted" ? 'export const key = "__reactContainer$";\n' : "";
        project.write(
          `node_modules/${name}/package.json`,
          JSON.stringify({ name, type: "module", exports: "./index.js" }),
        );
        project.write(`node_modules/${name}/index.js`, `${badge}${renderer}`);
        project.write(`node_modules/${name}/runtime.js`, runtime);
      }
      project.edit(
        "src/counter.tsx",
        "import { greet }",
        'import { Badge as New } from "badge";\nimport { Badge as Mounted } from "mounted";\nimport { Badge as Unused } from "unused";\nObject.assign(globalThis, { New, Mounted });\nimport { greet }',
      );
      project.write(
        "node_modules/label/package.json",
        '{ "name": "label", "type": "module", "exports": "./label.js" }',
      );
      project.write(
        "node_modules/label/label.js",
        'export const label = () => (process.env.NODE_ENV === "production" ? "fast" : "checked");\n',
      );
      project.edit(
        "src/pages.server.tsx",
        '<img id="hero" src={hero} alt="Hero" />',
        '<main><p>{label()}, {process.env.NODE_ENV}, {import.meta.env.BASE_URL + "logo.svg"}</p><img id="hero" src={hero} alt="Hero" /></main>',
      );
      project.edit("src/pages.server.tsx", "import hero", 'import { label } from "label";\nimport hero');
      project.edit("src/app.ts", 'title: "Site",', 'title: "Site", base: "/shop/front",');
      output = await buildWith("development", project);
      below = await openInEmptyFolder(project.dir, { NODE_ENV: "development" });
    });

    afterAll(() => below?.close());

    it("hydrates in the browser below the base", async () => {
      await checkInBrowser(below.server, "/shop/front");
      expect((await get(below.server, "/plain")).status).toBe(404);
    });

    it("links each style sheet once, in the order of imports", async () => {
      const names = (html: string) => sheetsOf(html).map((href) => href?.replace(/^.*\/assets\/|-[\w-]{8}\.css$/g, ""));
      expect(names((await get(below.server, "/shop/front/")).body)).toEqual(["app", "counter", "pages", "note"]);
      expect(names((await get(below.server, "/shop/front/nowhere")).body)).toEqual(["app"]);
    });

    it("is for production and does not read NODE_ENV, also in its packages, and has its base in BASE_URL", async () => {
      const { body } = await get(below.server, "/shop/front/plain");
      expect(body).toContain("<p>fast, production, /shop/front/logo.svg<");
    });

    it("warns about the packages, and removes the files of the last build", () => {
      expect(output.match(/^.* a copy of React .*$/gm)).toEqual([
        expect.stringContaining(
          "src/counter.tsx:4: badge contains a copy of React (node_modules/badge/runtime.js). Views are rendered with Preact, " +
            "which shows nothing of its elements. Use a version of badge that imports react",
        ),
      ]);
      const isPart = (name: string) => /-[\w-]{8}\.mjs(?:\.map)?$/.test(name);
      const names = readdirSync(project.file("dist")).filter((name) => !isPart(name));
      expect(names.sort()).toEqual([
        "app.mjs",
        "app.mjs.map",
        "client",
        "compile-cache.mjs",
        "json-line.mjs",
        "log-output.mjs",
        "manifest.mjs",
        "metrics-relay.mjs",
        "serialize-error.mjs",
        "server.mjs",
        "source-maps.mjs",
        "workers.mjs",
      ]);
    });
  });
});

describe("a small application", () => {
  it("without views, styles and static pages is built without running it by a command that exits whatever the Vite config keeps alive, has a page without scripts, and serves its public files", async () => {
    const app = `console.log("The application runs.");\n${APP}`;
    const project = createProject({
      "vite.config.ts": `${KEEP_ALIVE}export default {};\n`,
      "src/app.ts": app,
      "src/pages.server.tsx": PAGE,
      "public/a/b.txt": "public",
    });
    symlinkSync("a/b.txt", project.file("public/link.txt"));
    const { code, output } = await runTsweb(project.dir, ["build"], { NODE_ENV: "" });
    expect(code, output).toBe(0);
    expect(output).toContain("Built into dist");
    expect(output).not.toContain("The application runs.");
    expect(project.read("dist/app.mjs")).not.toContain(project.dir); // a build for development does
    const server = await startInEmptyFolder(project.dir);
    const { status, body } = await get(server, "/");
    expect(status).toBe(200);
    expect(body).not.toMatch(/<script|<link/);
    expect(project.read("dist/manifest.mjs")).not.toContain("assetBase"); // no page is searched for asset URLs
    for (const path of ["/a/b.txt", "/link.txt"]) {
      expect(await get(server, path)).toMatchObject({ status: 200, body: "public" });
    }

    // tsweb serve exits too, after it could not load the built application.
    project.write("dist/app.mjs", `${KEEP_ALIVE}throw new Error("no such table");\n`);
    const served = await runTsweb(project.dir, ["serve"]);
    expect(served.output).toContain("no such table");
    expect(served.code).toBe(1);
  });

  it("with style sheets and no views has no scripts", async () => {
    const project = createProject({
      "src/app.ts": `import "./all.css";\n${APP}`,
      "src/pages.server.tsx": `import "./page.css";\n${PAGE}`,
      "src/all.css": '@import "./imported.css";\nbody { margin: 1px }',
      "src/imported.css": "p { margin: 2px }",
      "src/page.css": "h1 { margin: 3px }",
    });
    await build(project.dir);
    const server = await startInEmptyFolder(project.dir);
    const { body } = await get(server, "/");
    const sheets = await Promise.all(sheetsOf(body).map(async (href) => (await get(server, href ?? "")).body.trim()));
    expect(sheets).toEqual(["p{margin:2px}body{margin:1px}", "h1{margin:3px}"]);
    expect(body).not.toContain("<script");
  });
});

it("copies packages with compiled code into dist", async () => {
  const copy = copyAccounts();
  cleanups.push(() => copy.remove());
  await buildOnce(copy.dir, "accounts");
  const server = await startInEmptyFolder(copy.dir, { ACCOUNTS_DATABASE_URL: "file:users.db" });
  const response = await fetch(`${server.address}/__web/rpc/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ args: { email: "ada@example.com", name: "Ada", password: "long enough" } }),
  });
  expect(await response.json()).toEqual({ result: true });
});

describe("a build", () => {
  /** The location, the message, and below them the line of the source with a mark. */
  const REST_PARAMETER = /src\/functions\.server\.ts:\d+:\d+\n[^\n]*rest parameter[\s\S]*?\(\.\.\.name[^\n]*\n[^\n]*\^/;

  it.each([
    ["in the application", [["app.ts", 'title: "Site",', 'title: "Site" oops,', /src\/app\.ts:\d+:\d+/, /oops/]]],
    ["in a view", [["counter.tsx", "import { greet }", "import { greet, hidden }", /src\/counter\.tsx:4:17/, /\^{6}/]]],
    [
      "in a page and in a server module",
      [
        ["pages.server.tsx", 'import "./pages.css";', 'import "./nowhere.ts";', /src\/pages\.server\.tsx/, /nowhere/],
        ["functions.server.ts", "(name: string) =>", "(...name: string[]) =>", REST_PARAMETER, /rest parameter/],
      ],
    ],
  ] as const)(
    "that fails because of mistakes %s prints the location and source lines, and keeps the last build",
    async (_where, mistakes) => {
      const project = createProject();
      project.write("dist/server.mjs", "// the last build");
      for (const [file, code, mistake] of mistakes) project.edit(`src/${file}`, code, mistake);
      const { code: status, output } = await runTsweb(project.dir, ["build"]);
      expect(status).toBe(1);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences of terminal colours
      const plain = output.replace(/\u001b\[[0-9;]*m/g, "");
      for (const [, , , location, message] of mistakes) {
        expect(plain).toMatch(location);
        expect(plain).toMatch(message);
      }
      expect(plain).not.toMatch(/\n {4}at /);
      expect(project.read("dist/server.mjs")).toBe("// the last build");
      expect(readdirSync(project.dir).filter((name) => name.startsWith(".dist"))).toEqual([]);
    },
  );
});

/** Keeps the process alive, as a database connection does. */
const KEEP_ALIVE = "setInterval(() => undefined, 1_000);\n";

/** An image of one pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
