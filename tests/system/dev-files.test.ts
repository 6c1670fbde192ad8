/**
 * The files that the development server serves, requested as an attacker would: only what a page or a module in the
 * browser refers to, and the files of public/.
 */
import { randomBytes } from "node:crypto";
import { symlinkSync } from "node:fs";
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { IS_MATRIX } from "#test/matrix";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

/** A random text in every file that no client may receive. */
const MARKER = `marker-${randomBytes(8).toString("hex")}`;

const PREFIX = "/__web/dev";

/** A PNG image of one pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const FILES = {
  "src/app.ts":
    'import { App } from "tsweb";\nimport * as pages from "./pages.server.tsx";\nimport * as calls from "./db.server.ts";\n' +
    'import "./style.css";\nexport default new App({ title: "Site", modules: [pages, calls] });\n',
  "src/db.server.ts":
    'import { server } from "tsweb";\nimport settings from "./settings.json";\nimport { helper } from "./helper.ts";\n' +
    `const secret = "${MARKER}";\nexport const load = server(async () => (secret + settings.key + helper).length);\n`,
  "src/helper.ts": `export const helper = "${MARKER}";\n`,
  "src/settings.json": `{ "key": "${MARKER}" }\n`,
  "src/pages.server.tsx":
    'import { page, route } from "tsweb";\nimport icon from "./icon.png";\nimport { Counter } from "./counter.tsx";\n' +
    'export const home = page("/", () => (<main><img src={icon} alt="" /><Counter /></main>));\n' +
    'export const y = page("/y", () => <h1>The page /y</h1>);\n' +
    'export const data = route("GET /data.json", () => Response.json({ from: "the route" }));\n',
  "src/counter.tsx":
    'import { view } from "tsweb/browser";\nimport { load } from "./db.server.ts";\nimport { words } from "./words.ts";\n' +
    'import data from "../data.json";\nimport photo from "./photo.png";\nimport text from "./note.txt?raw";\nimport "./counter.css";\n' +
    'export const later = () => import("./later.ts");\n' +
    'const other = new URL("./other.png", import.meta.url).href;\n' +
    "export const Counter = view(() => <button onClick={() => load()}>{words + data.word + photo + text + other}</button>);\n",
  "src/words.ts": 'export const words = "words";\n',
  "src/later.ts": 'export const later = "later";\n',
  "src/note.txt": "a note\n",
  "src/style.css": 'main { background: url("./background.png"); }\n',
  "src/counter.css": "button { background: url(./button.png); }\n",
  "src/unused.ts": `export const unused = "${MARKER}";\n`,
  "src/unused.tsx": `export const Unused = () => "${MARKER}";\n`,
  "src/unused.css": `a { content: "${MARKER}"; }\n`,
  "src/db.server.json": `{ "key": "${MARKER}" }\n`,
  "y.mjs": `export default "${MARKER}";\n`,
  "y.ts": `export default "${MARKER}";\n`,
  "data.json": '{ "word": "imported" }\n',
  "index.html": `<p>${MARKER}</p><script type="module">"${MARKER}";</script>\n`,
  "dist/app.mjs": `// ${MARKER}\n`,
  "dist/app.mjs.map": `{ "sourcesContent": ["${MARKER}"] }\n`,
  "dist/client/index.js": `// ${MARKER}\n`,
  "vite.config.js": `export default {}; // ${MARKER}\n`,
  ".env": `SECRET=${MARKER}\n`,
  ".env.local": `SECRET=${MARKER}\n`,
  ".git/config": `[${MARKER}]\n`,
  ".npmrc": `${MARKER}\n`,
  "tsconfig.json": `{ "compilerOptions": {} } // ${MARKER}\n`,
  "certs/key.pem": `${MARKER}\n`,
  "node_modules/private/package.json": `{ "name": "private", "version": "1.0.0", "main": "index.js", "x": "${MARKER}" }\n`,
  "node_modules/private/index.js": `export default "${MARKER}";\n`,
  "public/robots.txt": "User-agent: *\n",
  "public/.env": `SECRET=${MARKER}\n`,
};

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

let project: TestProject;
let dev: RunningServer;
/** A file outside of the project. */
let outside: TestProject;

beforeAll(async () => {
  project = TestProject.fromFiles(FILES);
  outside = TestProject.fromFiles({ "secret.ts": `export default "${MARKER}";\n` });
  const { name } = JSON.parse(project.read("package.json"));
  project.write("package.json", `{ "name": "${name}", "private": true, "type": "module", "x": "${MARKER}" }\n`);
  for (const image of ["icon", "photo", "other", "background", "button", "unused"]) {
    project.write(`src/${image}.png`, PIXEL);
  }
  symlinkSync(project.file("src/db.server.ts"), project.file("src/linked.ts"));
  symlinkSync(outside.file("secret.ts"), project.file("src/outside.ts"));
  symlinkSync(project.file(".env"), project.file("public/linked.txt"));
  symlinkSync(outside.dir, project.file("public/outside"));
  dev = await startDev(project.dir);
  expect((await get("/")).status).toBe(200);
  for (const path of await references("/")) await get(path); // as a browser does, so that Vite knows the modules
});

afterAll(async () => {
  agent.destroy();
  const code = await dev?.stop();
  project?.remove();
  outside?.remove();
  expect(code).toBe(0);
});

/** Sends a request with exactly this path, over a connection that is kept. By default, it is for a script. */
function get(path: string, headers: Record<string, string> = {}): Promise<ReceivedResponse> {
  const { hostname, port } = new URL(dev.address);
  const allHeaders = { host: "localhost", accept: "*/*", "sec-fetch-dest": "script", ...headers };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, hostname, port, path, headers: allHeaders }, async (response) => {
      let body = "";
      for await (const chunk of response.setEncoding("utf8")) body += chunk;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    sent.on("error", reject).end();
  });
}

interface ReceivedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Returns the URLs of the scripts, style sheets and images of a page. */
async function references(path: string): Promise<string[]> {
  const { body } = await get(path);
  return [...body.matchAll(/(?:src|href)="([^"]+)"|"src":"([^"]+)"/g)].map(
    ([, attribute, data]) => attribute ?? data ?? "",
  );
}

const SECRETS = [
  "dist/app.mjs",
  "dist/app.mjs.map",
  "dist/client/index.js",
  ".env",
  ".env.local",
  ".git/config",
  ".npmrc",
  "package.json",
  "tsconfig.json",
  "vite.config.js",
  "certs/key.pem",
  "index.html",
  "y.mjs",
  "src/helper.ts",
  "src/settings.json",
  "src/unused.ts",
  "src/unused.tsx",
  "src/unused.css",
  "src/unused",
  "src/outside.ts",
  "src/linked.ts",
  "src/db.server.ts",
  "src/db.server.json",
  "src/db.server",
  "node_modules/private/index.js",
  "node_modules/private/package.json",
  "node_modules/.vite/deps/_metadata.json",
  "public/.env",
];

/**
 * One of each kind: a file beside src/, a module that only the server loads, one of which browsers receive stubs, a link, a package,
 * a file of public/, a built file, and those that Vite handles by themselves, HTML, CSS and JSON. They are requested by all notations,
 * the others by those of {@link PLAIN_QUERIES} and all in the matrix.
 */
const EACH_KIND: readonly string[] = [
  ".env",
  "src/helper.ts",
  "src/db.server.ts",
  "src/outside.ts",
  "node_modules/private/index.js",
  "public/.env",
  "dist/app.mjs",
  "index.html",
  "src/unused.css",
  "src/settings.json",
];

const FULLY_TESTED = IS_MATRIX ? SECRETS : EACH_KIND;

const PLAIN_QUERIES = ["", "?raw", "?import&url", "?inline", "?t=1"];

const QUERIES = [
  "",
  "?raw",
  "?url",
  "?import",
  "?import&raw",
  "?import&url",
  "?inline",
  "?inline&import",
  "?init",
  "?direct",
  "?worker",
  "?worker_file&type=module",
  "?sharedworker&inline",
  "?html-proxy&index=0.js",
  "?t=1",
  "?v=1",
  "?t=1&raw",
  "?raw?",
  "?import&raw??",
  "?.svg?.wasm?init",
  "?.css",
  "?/../counter.tsx",
  "%3Fraw",
];

const encodeAll = (path: string) => [...path].map((c) => `%${c.charCodeAt(0).toString(16).padStart(2, "0")}`).join("");

/** Notations of the path of a file below the project's root. */
const notations = (file: string): string[] => [
  `/${file}`,
  `//${file}`,
  `/./${file}`,
  `/src/../${file}`,
  `/src/counter.tsx/../../${file}`,
  `/${encodeAll(file)}`,
  `/${file.replaceAll(".", "%2e")}`,
  `/${file.replaceAll(".", "%252e")}`,
  `/${file.replaceAll("/", "%2f")}`,
  `/${file.replaceAll("/", "\\")}`,
  `/${file.replaceAll("/", "//")}`,
  `/${file}.map`,
  `/${file}%00`,
  `/${file}#`,
  `/${file}/`,
  `/${file};.js`,
  `/@id/${file}`,
  `/@id//${file}`,
  `/@id/__x00__${file}`,
  `/@id/./${file}`,
  `/@fs${join(project.dir, file)}`,
  `/@fs/${join(project.dir, file)}`,
  `/@fs${join(project.dir, "src/../", file)}`,
  `/@fs${encodeURIComponent(join(project.dir, file))}`,
  `/@id/${join(project.dir, file)}`,
  join(project.dir, file),
  `/@vite/../${file}`,
  `/@vite/client/../../${file}`,
];

describe("the development server", () => {
  const withQueries = (file: string, queries: readonly string[]) =>
    queries.flatMap((query) => [`/${file}${query}`, `/@fs${join(project.dir, file)}${query}`]);

  async function expectRefusals(paths: Iterable<string>): Promise<void> {
    const leaks: string[] = [];
    const check = async (path: string) => {
      const { status, body } = await get(path);
      // 308 redirects to the normal form of the path, which is one of the other notations.
      const isRefused = [400, 404].includes(status) || (status === 308 && path !== decodeURI(path));
      if (body.includes(MARKER) || !isRefused) leaks.push(`${status} ${path}`);
    };
    await Promise.all(["", PREFIX].flatMap((prefix) => [...paths].map((path) => check(prefix + path))));
    expect(leaks).toEqual([]);
  }

  it.each(FULLY_TESTED)("sends the text of %s to nobody, by any notation of its URL [DEV-1]", async (file) => {
    // Some notations are the same for a file of the root.
    await expectRefusals(new Set([...notations(file), ...withQueries(file, QUERIES)]));
  });

  it.each(SECRETS.filter((file) => !FULLY_TESTED.includes(file)))(
    "sends the text of %s to nobody, by its path with the common queries [DEV-26]",
    async (file) => expectRefusals(withQueries(file, PLAIN_QUERIES)),
  );

  it.each(["/y", "/y?import", "/y?t=1"])(
    "responds to %s with the page, although the root has y.mjs and y.ts",
    async (path) => {
      for (const destination of ["document", "script", "empty"]) {
        const { status, body } = await get(path, { "sec-fetch-dest": destination });
        expect([status, body]).toEqual([200, expect.stringContaining("The page /y")]);
      }
    },
  );

  it("responds with the route at the path of a file that a view imports [DEV-2]", async () => {
    expect(JSON.parse((await get("/data.json")).body)).toEqual({ from: "the route" });
  });

  it("serves no tool of Vite", async () => {
    for (const prefix of ["", PREFIX]) {
      for (const path of [
        `/__open-in-editor?file=${project.file("src/app.ts")}`,
        "/__inspect/",
        "/@vite/env",
        "/@vite-plugin-checker-runtime",
        "/@react-refresh",
        "/@id/node:fs",
        "/@id/tsweb",
        "/@id/private",
        "/@id/vite",
        "/@fs/etc/passwd",
        "/@fs/etc/passwd?raw",
        "/@fs/etc/passwd?import&raw",
        "/@fs/etc/passwd?.svg?.wasm?init",
        "/outside/secret.ts",
        "/linked.txt",
      ]) {
        expect([path, (await get(prefix + path)).status]).toEqual([path, 404]);
      }
    }
  });
});

describe("a browser", () => {
  it("receives everything that a page and its views refer to", async () => {
    const urls = await references("/");
    expect(urls).toEqual(expect.arrayContaining([`${PREFIX}/@vite/client`, `${PREFIX}/src/style.css`]));
    const visited = new Set<string>();
    const visit = async (url: string): Promise<void> => {
      if (visited.has(url)) return;
      visited.add(url);
      const response = await get(url, url.endsWith(".css") ? { accept: "text/css" } : {});
      expect([url, response.status]).toEqual([url, 200]);
      expect(response.body).not.toContain(MARKER);
      const code = response.body.replace(/\/\/# sourceMappingURL=.*/g, "");
      for (const [, next = ""] of code.matchAll(/["'(](\/__web\/dev\/[^"'()\\\s]+)/g)) await visit(next);
    };
    for (const url of urls) if (url.startsWith(PREFIX)) await visit(url);
    const files = [...visited].map((url) => url.replace(/\?.*$/, "").slice(PREFIX.length));
    expect(files).toEqual(
      expect.arrayContaining([
        "/src/counter.tsx",
        "/src/words.ts",
        "/src/later.ts",
        "/src/counter.css",
        "/src/style.css",
        "/src/note.txt",
        "/src/icon.png",
        "/src/photo.png",
        "/src/other.png",
        "/src/button.png",
        "/src/background.png",
        "/data.json",
      ]),
    );
    expect(files).not.toContain("/src/unused.png");
  });

  it("receives a file of public/ with the headers of the built server", async () => {
    const { status, headers, body } = await get("/robots.txt");
    expect([status, body]).toEqual([200, "User-agent: *\n"]);
    expect(headers).toMatchObject({ "cache-control": "no-cache", "x-content-type-options": "nosniff" });
    expect(headers["x-request-id"]).toMatch(/^[0-9a-f]{32}$/);
  });

  it("receives a module with the ids of the request and with nosniff, and without a CORS header", async () => {
    const { status, headers } = await get(`${PREFIX}/src/counter.tsx`, {
      "x-request-id": "this-one",
      origin: "http://localhost:1",
    });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/javascript",
      "x-request-id": "this-one",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
    });
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});
