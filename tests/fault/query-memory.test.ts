/**
 * Pages that receive the value of one live query, each with a connection of its own: what they cost the server, and that it gets the
 * memory back when they leave. `npm run torture -- queries` has 5,000.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { callFunction } from "#test/call-function";
import { buildOnce } from "#test/shared-builds";
import { TestProject } from "#test/test-project";
import type { LiveHandle } from "../../src/protocol/index.ts";

const PAGES = process.env.TORTURE_SIZE === "full" ? 5_000 : 500;

const KIB = 1024;

/** What a page may cost: its connection, most of which is that of Node, and its receiver. */
const MAX_PAGE_BYTES = 24 * KIB;

/** What may stay after all have left: what the process has compiled and cached meanwhile. */
const MAX_KEPT_BYTES = 2 * KIB * KIB;

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as rows from "./rows.server.ts";
    export default new App({ title: "Rows", modules: [rows], rate: false });`,
  "src/rows.server.ts": `
    import { publish, query, server } from "tsweb";
    let version = 0;
    export const rows = query({ on: ["rows"] }, () => {
      return Array.from({ length: 100 }, (_, id) => ({ id, version: id === 0 ? version : 0, text: "text ".repeat(10) }));
    });
    export const show = server(() => rows.live());
    export const change = server(async () => {
      version++;
      await publish("rows");
    });
    export const used_bytes = server(() => {
      globalThis.gc(); // with --expose-gc
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    });`,
};

let project: TestProject;
let server: AppProcess;

beforeAll(async () => {
  project = TestProject.fromFiles(FILES);
  await buildOnce(project.dir, "query-memory");
  server = await AppProcess.start(project.dir, { ...sharedEnv(), WEB_TRUST_PROXY: "1" }, ["--expose-gc"]);
});
afterAll(async () => {
  await server?.stop();
  project?.remove();
});

/** A page with an event stream. */
interface Page {
  readonly socket: Socket;
  /** The number of changes that it has received. */
  changes: number;
}

/** Opens the event stream of a page. 500 pages have one address, from which 600 live requests a minute are accepted. */
async function openPage({ query, v }: LiveHandle, index: number): Promise<Page> {
  const body = JSON.stringify({ queries: [`${query}~${v}`] });
  const socket = connect({ port: server.port, host: "127.0.0.1" });
  const page: Page = { socket, changes: 0 };
  socket.setEncoding("latin1");
  socket.write(
    `POST /__web/live HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nX-Forwarded-For: 192.0.2.${Math.floor(index / 500)}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const [first] = await once(socket, "data");
  expect(String(first)).toMatch(/^HTTP\/1\.1 200 /);
  socket.on("data", (text: string) => {
    page.changes += text.split('"patch":').length - 1;
  });
  return page;
}

const usedBytes = () => callFunction<number>(server.address, "used_bytes");

/** Makes a change, and waits until all pages have received it. */
async function change(pages: readonly Page[], count: number): Promise<void> {
  await callFunction(server.address, "change", {});
  await expect.poll(() => pages.every(({ changes }) => changes === count), { timeout: 60_000 }).toBe(true);
}

/** Opens pages, makes changes, and closes the pages. @returns the memory with the pages, before and after the changes */
async function visit(count: number): Promise<{ readonly open: number; readonly changed: number }> {
  const handle = await callFunction<LiveHandle>(server.address, "show", {});
  const pages: Page[] = [];
  try {
    for (let n = 0; n < count; n += 50) {
      const batch = Array.from({ length: Math.min(50, count - n) }, (_, i) => openPage(handle, n + i));
      pages.push(...(await Promise.all(batch)));
    }
    const open = await usedBytes();
    for (let n = 1; n <= 3; n++) await change(pages, n);
    return { open, changed: await usedBytes() };
  } finally {
    for (const { socket } of pages) socket.destroy();
  }
}

it(`${PAGES} pages with one query cost at most 24 KiB each, also after changes, and nothing after they have left`, {
  timeout: 300_000,
}, async () => {
  await visit(20); // compiles, and fills what is kept for the next pages
  const before = await usedBytes();
  const { open, changed } = await visit(PAGES);
  const perPage = (bytes: number) => (bytes - before) / PAGES;
  const kib = (bytes: number) => (bytes / KIB).toFixed(1);
  if (process.env.TORTURE_SIZE) console.log(`${kib(perPage(open))} KiB a page, ${kib(perPage(changed))} after changes`);
  const left = await vi.waitFor(
    async () => {
      const bytes = await usedBytes();
      expect(bytes - before).toBeLessThan(MAX_KEPT_BYTES);
      return bytes;
    },
    { timeout: 60_000, interval: 500 },
  );
  if (process.env.TORTURE_SIZE) console.log(`${kib(left - before)} KiB stay`);
  expect(perPage(open)).toBeLessThan(MAX_PAGE_BYTES);
  expect(perPage(changed)).toBeLessThan(MAX_PAGE_BYTES);
});
