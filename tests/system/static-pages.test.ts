/** Pages that the build renders: files with their headers, and errors of the build. */
import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { runTsweb } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const APP = (options = "") => `
  import { App } from "tsweb";
  import * as pages from "./pages.server.tsx";
  console.log("The application runs.");
  export default new App({ modules: [pages], ${options} });`;

const PAGES = `
  import { page, request, session } from "tsweb";
  export const home = page("/", { static: true }, () => <main>home {"text ".repeat(500)}</main>);
  export const post = page(
    "/posts/:id", { static: true, params: () => [{ id: 1 }, { id: "é b" }] }, ({ id }) => <main>post {id} of {process.pid}</main>);
  export const own = page("/own", () => <main>{session.user()?.sub ?? "nobody"}</main>);`;

it("static pages are rendered by the build, and served as files with the headers of pages [STATIC-1]", async () => {
  const withStart = APP('on_start: () => console.log("on_start runs")');
  const project = TestProject.fromFiles({ "src/app.ts": withStart, "src/pages.server.tsx": PAGES });
  const { code, output } = await runTsweb(project.dir, ["build"]);
  expect(code, output).toBe(0);
  expect(output).toContain("The application runs."); // to render the pages
  expect(output).not.toContain("on_start runs");
  const read = (file: string) => readFileSync(project.file(`dist/client/${file}`), "utf8");
  expect(read("index.html")).toContain("home text");
  expect(existsSync(project.file("dist/client/index.html.br"))).toBe(true);
  expect(read("posts/é b.html")).toContain("post é b of");
  expect(read("_headers")).toMatch(/^\/posts\/1\n(?: {2}.*\n)* {2}content-security-policy: default-src/m);
  const app = await AppProcess.start(project.dir, sharedEnv());
  try {
    const get = (path: string, headers: Record<string, string> = {}) => fetch(app.address + path, { headers });
    const home = await get("/", { "accept-encoding": "br" });
    expect(home.headers.get("content-encoding")).toBe("br");
    expect(home.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(home.headers.get("content-security-policy")).toContain("default-src 'self'");
    expect(home.headers.get("cache-control")).toBe("no-cache");
    const rules = home.headers.get("speculation-rules") ?? "";
    expect(rules).toMatch(/^"\/assets\/speculation-[\w-]{8}\.json"$/);
    expect(read("_headers")).toContain(`  speculation-rules: ${rules}\n`);
    expect(read(JSON.parse(rules))).toBe(await (await get(JSON.parse(rules))).text());
    expect(await home.text()).toContain("home text");
    const etag = home.headers.get("etag") ?? "";
    expect((await get("/", { "accept-encoding": "br", "if-none-match": etag })).status).toBe(304);
    expect(await (await get("/posts/%C3%A9%20b")).text()).toBe(read("posts/é b.html"));
    const other = await get("/posts/2"); // not among params: rendered for the request
    expect([other.headers.get("cache-control"), (await other.text()).includes("post 2 of")]).toEqual([
      "private, no-store",
      true,
    ]);
    expect((await get("/posts/1.html")).status).not.toBe(304);
    expect((await get("/index.html")).status).toBe(404);
    expect((await get("/_headers")).status).toBe(404);
    expect(await expectListedHeaders(project, app)).toBeNull();
  } finally {
    await app.stop();
    project.remove();
  }
});

it("_headers has what the server sends, also with WEB_COOKIE_SECURE of the build and the server, and behind before", async () => {
  const env = { WEB_COOKIE_SECURE: "1" };
  const project = TestProject.fromFiles({
    "src/app.ts": APP("before: () => undefined"),
    "src/pages.server.tsx": PAGES.replaceAll("static: true", 'static: "public"'),
  });
  expect((await runTsweb(project.dir, ["build"], env)).code).toBe(0);
  const app = await AppProcess.start(project.dir, { ...sharedEnv(), ...env });
  try {
    expect(await expectListedHeaders(project, app)).toBe("max-age=31536000");
  } finally {
    await app.stop();
    project.remove();
  }
});

it("a static page that uses something of a request is refused by the build with file and line, which leaves no files [STATIC-2]", async () => {
  const pages = `
    import { page, session } from "tsweb";
    export const home = page("/", { static: true }, async () =>
      <main>{session.user()?.sub ?? "nobody"}</main>);`;
  const project = TestProject.fromFiles({ "src/app.ts": APP('base: "/shop"'), "src/pages.server.tsx": pages });
  const { code, output } = await runTsweb(project.dir, ["build"]);
  expect(code).toBe(1);
  expect(output).toContain("The page / (src/pages.server.tsx:3) is static");
  expect(output).toContain("session.user()");
  expect(output).toMatch(/pages\.server\.tsx:4/);
  expect(existsSync(project.file("dist"))).toBe(false);
  project.remove();
});

/** Expects that `_headers` lists what a server sends with its first page. Returns the header that requires HTTPS, if there is one. */
async function expectListedHeaders(project: TestProject, app: AppProcess): Promise<string | null> {
  const [block = ""] = readFileSync(project.file("dist/client/_headers"), "utf8").split("\n\n");
  const [path = "", ...lines] = block.split("\n");
  const listed = lines.map((line) => /^ {2}([^:]+): (.*)$/.exec(line)?.slice(1) as [name: string, value: string]);
  const { headers } = await fetch(app.address + path);
  expect(listed).toEqual(listed.map(([name]) => [name, headers.get(name)]));
  const value = headers.get("strict-transport-security");
  expect(listed.some(([name]) => name === "strict-transport-security")).toBe(value !== null);
  return value;
}
