/**
 * The bytes that a built server allocates for a call and for a page, in a process whose new objects are not collected
 * meanwhile. Unlike times, they hardly depend on the machine: within 2.5 % over ten runs on a busy one.
 */
import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { build, type RunningServer, startNode } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

/** With code that V8 has compiled after this many requests, further ones allocate the same. */
const WARM_UP = 2000;

const MEASURED = 1000;

/** New objects of all measured requests are at most 50 MB. Nothing is collected before this is full. */
const HEAP_FLAGS = ["--expose-gc", "--min-semi-space-size=128", "--max-semi-space-size=128"];

/** Reports the heap, and how many collections there were. `?collect` collects before. */
const HEAP = `import { PerformanceObserver } from "node:perf_hooks";
import { route } from "tsweb";

let collections = 0;
new PerformanceObserver((list) => {
  collections += list.getEntries().length;
}).observe({ entryTypes: ["gc"] });

export const heap = route("GET /heap", async (request: Request) => {
  if (new URL(request.url).searchParams.has("collect")) {
    const before = collections;
    globalThis.gc?.();
    while (collections === before) await new Promise((resolve) => setImmediate(resolve)); // the observer is notified later
  }
  return Response.json({ bytes: process.memoryUsage().heapUsed, collections });
});
`;

let site: TestProject;
let server: RunningServer;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(async () => {
  site = TestProject.copy(join(repository, "template"));
  site.write("src/heap.server.ts", HEAP);
  site.edit("src/app.ts", "import * as pages", 'import * as heap from "./heap.server.ts";\nimport * as pages');
  site.edit("src/app.ts", "modules: [", "rate: { calls: 1_000_000, seconds: 60 }, modules: [heap, ");
  await build(site.dir);
  const env = { WEB_ENV: "production", WEB_AUTH_SECRET: randomBytes(32).toString("hex") };
  server = await startNode(site.dir, [...HEAP_FLAGS, "dist/server.mjs"], env);
});

afterAll(async () => {
  agent.destroy();
  await server?.stop();
  site?.remove();
});

/** Sends a request on the one connection, and returns the body of the response. */
async function send(path: string, body?: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const options = { agent, method: body === undefined ? "GET" : "POST", headers };
  const response = await new Promise<Parameters<typeof text>[0]>((resolve, reject) => {
    request(server.address.replace("localhost", "127.0.0.1") + path, options, resolve)
      .once("error", reject)
      .end(body);
  });
  return text(response);
}

/** Returns the bytes that the server allocates for a request, with what Node allocates for it. */
async function bytesPerRequest(path: string, { body, contains }: { body?: string; contains: string }): Promise<number> {
  expect(await send(path, body)).toContain(contains);
  for (let n = 1; n < WARM_UP; n++) await send(path, body);
  const before = JSON.parse(await send("/heap?collect"));
  for (let n = 0; n < MEASURED; n++) await send(path, body);
  const after = JSON.parse(await send("/heap"));
  expect(after.collections).toBe(before.collections);
  return (after.bytes - before.bytes) / MEASURED;
}

/**
 * About 10 % above what Node 20.20 and 24.21 allocate. If a change exceeds a limit, look for what it allocates for each
 * request before you raise the limit.
 */
const LIMITS = process.versions.node.startsWith("20.")
  ? { call: 14_800, page: 44_700 }
  : { call: 17_000, page: 49_000 };

it("allocates a limited number of bytes for a call", async () => {
  const bytes = await bytesPerRequest("/__web/rpc/greet", { body: '{"args":{"name":"Ada"}}', contains: "Hello Ada" });
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThan(LIMITS.call);
});

it("allocates a limited number of bytes for a small page", async () => {
  const bytes = await bytesPerRequest("/", { contains: "<h1>my-app</h1>" });
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThan(LIMITS.page);
});
