/**
 * What a built server loads until it has answered a page and a call. Each file and each module of Node costs time at every
 * start of every process.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { build, startNode } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

interface Loaded {
  readonly scripts: readonly { readonly url: string; readonly bytes: number }[];
  /** The modules of Node, with its internal ones. */
  readonly builtins: readonly string[];
}

/** The files of `dist/` that a small application loads. Others are loaded when something uses them. */
const FILES = ["app.mjs", "compile-cache.mjs", "manifest.mjs", "server.mjs", "source-maps.mjs"];

/**
 * Code of `app.mjs` at most, of which 735 KB are tsweb with its dependencies. Raise it only for what every application uses: the
 * buses of Redis and NATS, the shared rate limit, the client of Prometheus and the parser of multipart bodies are in files that
 * others load, and live queries are in builds that have some. Presence, parts of pages and cached pages are in all builds (70 KB).
 */
const MAX_APP_BYTES = 745_000;

/** What no small application needs: TLS, HTTP/2, compression of what is not compressed, and `fetch` with its classes. */
const UNUSED = ["https", "tls", "_tls_wrap", "http2", "zlib", "internal/deps/undici/undici"];

let site: TestProject;
beforeAll(async () => {
  site = TestProject.copy(join(repository, "template"));
  await build(site.dir);
});
afterAll(() => site?.remove());

/** Starts the built application, requests its page and calls its function, and returns what the process has loaded. */
async function loadedByRequests(): Promise<Loaded> {
  const recorder = fileURLToPath(new URL("../support/record-loaded.mjs", import.meta.url));
  const server = await startNode(site.dir, ["--import", recorder, "dist/server.mjs"], {
    LOADED_FILE: site.file("loaded.json"),
    WEB_ENV: "production",
    WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
  });
  try {
    const headers = { "accept-encoding": "identity" };
    expect(await (await fetch(server.address, { headers })).text()).toContain("<h1>my-app</h1>");
    const call = { method: "POST", headers: { ...headers, "content-type": "application/json" } };
    const response = await fetch(`${server.address}/__web/rpc/greet`, { ...call, body: '{"args":{"name":"Ada"}}' });
    expect(await response.json()).toMatchObject({ result: "Hello Ada, from the server." });
  } finally {
    expect(await server.stop()).toBe(0);
  }
  return JSON.parse(site.read("loaded.json"));
}

it("loads five files and no module of Node for TLS, HTTP/2, compression or fetch", async () => {
  const { scripts, builtins } = await loadedByRequests();
  const dist = `${pathToFileURL(site.file("dist")).href}/`;
  const files = scripts.filter(({ url }) => !url.endsWith("/record-loaded.mjs"));
  expect(files.map(({ url }) => url.replace(dist, "")).toSorted()).toEqual(FILES);
  expect(files.find(({ url }) => url.endsWith("/app.mjs"))?.bytes).toBeLessThan(MAX_APP_BYTES);
  expect(builtins.filter((name) => UNUSED.includes(name))).toEqual([]);
});

it("contains neither the code of live queries nor the parser of multipart bodies", () => {
  expect(site.read("dist/app.mjs")).not.toMatch(/class (Query\w+|LiveQueries)\b|function Busboy\b/);
});

it("imports none of Node's modules whose exports load further ones when they are imported", () => {
  // Since Node 22, `import` of `node:http` loads `fetch`, whose classes are exports of that module.
  const imports = [...site.read("dist/app.mjs").matchAll(/^import .* from "(node:[^"]+)";$/gm)].map(([, name]) => name);
  expect(imports.length).toBeGreaterThan(5);
  expect(imports.filter((name = "") => /^node:(https?|http2|tls|zlib)$/.test(name))).toEqual([]);
});
