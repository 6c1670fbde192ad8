/** Pages that the build renders: files with their headers, and errors of the build. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { repository } from "#test/copy-example";
import { build, type Environment, runTsweb } from "#test/run-tsweb";
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
  const project = TestProject.fromFiles({ "src/app.ts": APP(), "src/pages.server.tsx": PAGES });
  await build(project.dir);
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
  } finally {
    await app.stop();
    project.remove();
  }
});

it.each([
  ["1", "max-age=31536000"],
  [undefined, null],
])(
  "_headers has what the server sends, if the build and the server have WEB_COOKIE_SECURE=%s",
  async (secure, hsts) => {
    const project = TestProject.fromFiles({ "src/app.ts": APP(), "src/pages.server.tsx": PAGES });
    const env = { WEB_COOKIE_SECURE: secure };
    expect((await runTsweb(project.dir, ["build"], env)).code).toBe(0);
    const [block = ""] = readFileSync(project.file("dist/client/_headers"), "utf8").split("\n\n");
    const [path = "", ...lines] = block.split("\n");
    const listed = lines.map((line) => /^ {2}([^:]+): (.*)$/.exec(line)?.slice(1) as [name: string, value: string]);
    const app = await AppProcess.start(project.dir, { ...sharedEnv(), ...env });
    try {
      const { headers } = await fetch(app.address + path);
      expect(listed).toEqual(listed.map(([name]) => [name, headers.get(name)]));
      const value = headers.get("strict-transport-security");
      expect([value, listed.some(([name]) => name === "strict-transport-security")]).toEqual([hsts, hsts !== null]);
    } finally {
      await app.stop();
      project.remove();
    }
  },
);

it("a build without a static page runs no code of the application", async () => {
  const pages = 'import { page } from "tsweb"; export const home = page("/", () => <main>home</main>);';
  const project = TestProject.fromFiles({ "src/app.ts": APP(), "src/pages.server.tsx": pages });
  const { output } = await runTsweb(project.dir, ["build"]);
  expect(output).not.toContain("The application runs.");
  project.remove();
});

/** What a static page may not use: in the message, and in the page. */
const USES = [
  ["session.user()", '{session.user()?.sub ?? "nobody"}'],
  ["request.cookies", "{request.cookies.a}"],
  ["request.query.sort", "{request.query.sort}"],
  ["channel()", '{typeof await channel("room")}'],
  ["list.live()", "{typeof await list.live()}"],
  ["a form with a CSRF token", "<form action={save} />"],
] as const;

const FUNCTIONS = `import { channel, page, query, request, server, session } from "tsweb";
    export const list = query({ on: ["room"] }, () => 1); export const save = server((text: string) => void [request, session, channel, text]);`;

const SECRET = { WEB_CSRF_SECRET: "6b".repeat(32) };

describe("a static page that uses something of a request is refused with file and line", () => {
  it("by the build, which leaves no files [STATIC-2]", async () => {
    const [use, markup] = USES[0];
    const pages = `${FUNCTIONS}
    export const home = page("/", { static: true }, async () =>
      <main>${markup}</main>);`;
    const project = TestProject.fromFiles({ "src/app.ts": APP(), "src/pages.server.tsx": pages });
    const { code, output } = await runTsweb(project.dir, ["build"], SECRET);
    expect(code).toBe(1);
    expect(output).toContain("The page / (src/pages.server.tsx:3) is static");
    expect(output).toContain(use);
    expect(output).toMatch(/pages\.server\.tsx:4/);
    expect(existsSync(project.file("dist"))).toBe(false);
    project.remove();
  });

  describe("by the process that renders the pages for the build", () => {
    let project: TestProject;
    beforeAll(async () => {
      const pages = USES.map(
        ([, markup], index) => `
    export const page_${index} = page("/${index}", { static: process.env.STATIC_PAGE === "${index}" || undefined }, async () =>
      <main>${markup}</main>);`,
      );
      const files = { "src/app.ts": APP('base: "/shop"'), "src/pages.server.tsx": FUNCTIONS + pages.join("") };
      project = TestProject.fromFiles(files);
      await build(project.dir);
    });
    afterAll(() => project?.remove());

    it.each(USES.map(([use], index) => [use, index] as const))("for %s", async (use, index) => {
      const env = { ...SECRET, WEB_ENV: "development", STATIC_PAGE: String(index) };
      const error = await renderingError(project.file("dist/app.mjs"), env);
      const line = 3 + 2 * index;
      expect(error).toContain(`The page /${index} (src/pages.server.tsx:${line}) is static`);
      expect(error).toContain(use);
      // The renderer writes a form: no line of the application is in the stack.
      if (!use.includes("form")) expect(error).toMatch(new RegExp(`pages\\.server\\.tsx:${line + 1}`));
    });
  });
});

/** Returns the error of the process that `tsweb build` starts to render the static pages of a built application. */
async function renderingError(app: string, env: Environment): Promise<string | undefined> {
  const child = fork(join(repository, "dist/cli/load-app-child.js"), [app, "static-pages"], {
    env: { ...process.env, ...env },
    execArgv: ["--enable-source-maps"],
    silent: true,
  });
  const [[{ error }]] = await Promise.all([once(child, "message"), once(child, "exit")]);
  return error;
}

it('an application with before needs static: "public" [STATIC-3]', async () => {
  const project = TestProject.fromFiles({
    "src/app.ts": APP("before: () => undefined"),
    "src/pages.server.tsx": PAGES,
  });
  const refused = await runTsweb(project.dir, ["build"]);
  expect([refused.code, refused.output.includes('write static: "public"')]).toEqual([1, true]);
  project.write("src/pages.server.tsx", PAGES.replaceAll("static: true", 'static: "public"'));
  expect((await runTsweb(project.dir, ["build"])).code).toBe(0);
  project.remove();
});
