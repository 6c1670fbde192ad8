/**
 * What `tsweb build` makes: of applications with one of everything, with next to nothing, and with mistakes.
 */
import { randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { copyExample } from "#test/copy-example";
import { ask } from "#test/raw";
import { build, type Running, runTsweb, startNode } from "#test/run-tsweb";
import { Site } from "#test/site";
import { Visitors } from "#test/visitors";
import { launch } from "../browser/chromium.ts";

const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex") };

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function site(files?: Readonly<Record<string, string>>): Site {
  const made = files ? Site.of(files) : Site.copy();
  cleanups.push(() => made.remove());
  return made;
}

/** Runs what was built with plain Node, somewhere else, without a package above it. */
async function startElsewhere(dir: string, more: Readonly<Record<string, string>> = {}): Promise<Running> {
  const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-elsewhere-")));
  cpSync(join(dir, "dist"), join(elsewhere, "app"), { recursive: true });
  const server = await startNode(elsewhere, ["app/server.mjs"], { ...env, ...more });
  cleanups.push(async () => {
    await server.stop();
    rmSync(elsewhere, { recursive: true, force: true });
  });
  return server;
}

const get = async (server: Running, path: string) => ask(server.address, `GET ${path} HTTP/1.1`, "Host: localhost");

const sheetsOf = (html: string) =>
  [...html.matchAll(/<link rel="stylesheet" href="([^"]+)">/g)].map(([, href]) => href);

const PAGE = 'import { page } from "tsweb";\nexport const home = page("/", () => <h1>Home</h1>);\n';
const APP =
  'import { App } from "tsweb";\nimport * as pages from "./pages.server.tsx";\nexport default new App({ modules: [pages] });\n';

describe("an application with one of everything", () => {
  let whole: Site;
  let browser: Browser;

  beforeAll(async () => {
    whole = Site.copy();
    whole.write("src/hero.png", PNG);
    whole.edit("src/pages.server.tsx", "<h1>No view here</h1>", '<img id="hero" src={hero} alt="Hero" />');
    whole.edit(
      "src/pages.server.tsx",
      'import "./pages.css";',
      'import hero from "./hero.png";\nimport "./pages.css";',
    );
    await build(whole.dir);
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    whole?.remove();
  });

  it.each(["", "/shop/front"])("lives in the browser below the base %j", async (base) => {
    if (base !== "") {
      whole.edit("src/app.ts", 'title: "Site",', `title: "Site", base: "${base}",`);
      await build(whole.dir);
    }
    const server = await startElsewhere(whole.dir);
    const visitors = new Visitors(browser, {});
    cleanups.push(() => visitors.leave());
    const page = await visitors.arrive();
    // The browser asks for it at the root, which is not the application's below a base.
    await page.route("**/favicon.ico", (route) => route.fulfill({ body: "" }));
    await page.goto(`${server.address}${base}/`);
    await page.locator("#counter[data-alive=true]").waitFor();
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
    if (base !== "") expect((await get(server, "/plain")).status).toBe(404);
    expect(visitors.complaints).toEqual([]);
  });

  it("links each style sheet once, in the order of the imports", async () => {
    const server = await startElsewhere(whole.dir);
    const names = (html: string) => sheetsOf(html).map((href) => href?.replace(/^.*\/assets\/|-[\w-]{8}\.css$/g, ""));
    const at = /"base": ?"([^"]+)"/.exec((await get(server, "/shop/front/")).body)?.[1] ?? "";
    expect(names((await get(server, `${at}/`)).body)).toEqual(["app", "counter", "pages", "note"]);
    expect(names((await get(server, `${at}/nowhere`)).body)).toEqual(["app"]);
  });

  it("has the views that pages show, and no other", () => {
    const text = readdirSync(whole.file("dist/client/assets"))
      .map((file) => readFileSync(whole.file(`dist/client/assets/${file}`), "utf8"))
      .join("\n");
    expect(text).toContain("Greet");
    expect(text).not.toContain("never shown on any page");
  });

  it("stands alone: nothing in it names the folder it was built in", () => {
    for (const file of ["app.mjs", "server.mjs", "manifest.mjs"]) {
      expect(whole.read(`dist/${file}`), file).not.toContain(whole.dir);
    }
    expect(existsSync(whole.file("dist/node_modules"))).toBe(false);
    expect(whole.read("dist/app.mjs")).not.toMatch(/\bfrom ?"(?!node:|\.\/)[^"]+";?$/m);
  });
});

describe("an application with little", () => {
  it("no view, style or file: a page, and no script", async () => {
    const small = site({ "src/app.ts": APP, "src/pages.server.tsx": PAGE });
    await build(small.dir);
    const { status, body } = await get(await startElsewhere(small.dir), "/");
    expect(status).toBe(200);
    expect(body).not.toMatch(/<script|<link/);
  });

  it("only public files beside its page", async () => {
    const small = site({ "src/app.ts": APP, "src/pages.server.tsx": PAGE, "public/a/b.txt": "public" });
    await build(small.dir);
    expect(await get(await startElsewhere(small.dir), "/a/b.txt")).toMatchObject({ status: 200, body: "public" });
  });

  it("style, and no view", async () => {
    const small = site({
      "src/app.ts": `import "./all.css";\n${APP}`,
      "src/pages.server.tsx": `import "./page.css";\n${PAGE}`,
      "src/all.css": '@import "./imported.css";\nbody { margin: 1px }',
      "src/imported.css": "p { margin: 2px }",
      "src/page.css": "h1 { margin: 3px }",
    });
    await build(small.dir);
    const server = await startElsewhere(small.dir);
    const { body } = await get(server, "/");
    const sheets = await Promise.all(sheetsOf(body).map(async (href) => (await get(server, href ?? "")).body.trim()));
    expect(sheets).toEqual(["p{margin:2px}body{margin:1px}", "h1{margin:3px}"]);
    expect(body).not.toContain("<script");
  });

  it("server functions alone", async () => {
    const small = site({
      "src/app.ts": APP.replaceAll("pages.server.tsx", "functions.server.ts"),
      "src/functions.server.ts": 'import { server } from "tsweb";\nexport const one = server(() => 1);\n',
    });
    await build(small.dir);
    const server = await startElsewhere(small.dir);
    const answer = await fetch(`${server.address}/__web/rpc/one`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"args":{}}',
    });
    expect(await answer.json()).toEqual({ result: 1 });
  });
});

it("packages with compiled code go along", async () => {
  const copy = copyExample("accounts", ["tsweb", "@libsql/client"]);
  cleanups.push(() => copy.remove());
  await build(copy.dir);
  const server = await startElsewhere(copy.dir, { ACCOUNTS_DATABASE_URL: "file:users.db" });
  const answer = await fetch(`${server.address}/__web/rpc/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ args: { email: "ada@example.com", name: "Ada", password: "long enough" } }),
  });
  expect(await answer.json()).toEqual({ result: true });
});

describe("a build that fails", () => {
  it.each([
    ["app.ts", 'title: "Site",', 'title: "Site" oops,', /src\/app\.ts:\d+:\d+/, /oops/],
    ["counter.tsx", "import { greet }", "import { greet, hidden }", /src\/counter\.tsx:4:17/, /\^{6}/],
    ["pages.server.tsx", 'import "./pages.css";', 'import "./nowhere.ts";', /src\/pages\.server\.tsx/, /nowhere/],
    ["functions.server.ts", "(name: string) =>", "(...name: string[]) =>", /src\/functions\.server\.ts:\d+:\d+/, /\^/],
  ])("for a mistake in %s says where, shows it, and leaves the last build in place", async (...row) => {
    const [file, part, other, place, shown] = row;
    const whole = site();
    whole.write("dist/server.mjs", "// the last build");
    whole.edit(`src/${file}`, part, other);
    const { code, output } = await runTsweb(whole.dir, ["build"]);
    expect(code).toBe(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours a terminal
    const plain = output.replace(/\u001b\[[0-9;]*m/g, "");
    expect(plain).toMatch(place);
    expect(plain).toMatch(shown);
    expect(plain).not.toMatch(/\n {4}at /);
    expect(whole.read("dist/server.mjs")).toBe("// the last build");
    expect(readdirSync(whole.dir).filter((name) => name.startsWith(".dist"))).toEqual([]);
  });

  it("leaves nothing of an earlier build in the next", async () => {
    const whole = site();
    whole.write("dist/stale.mjs", "");
    await build(whole.dir);
    expect(readdirSync(whole.file("dist")).sort()).toEqual([
      "app.mjs",
      "app.mjs.map",
      "client",
      "manifest.mjs",
      "server.mjs",
      "workers.mjs",
    ]);
  });
});

/** One pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
