/**
 * The recipes of `deploy/` for nginx and Caddy in front of a process: as many open pages as they promise, and no metrics for
 * clients from outside.
 */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Caddy } from "#test/caddy";
import { callFunction } from "#test/call-function";
import { buildLiveApp } from "#test/live-app";
import { Nginx } from "#test/nginx";
import { sendRequest } from "#test/raw-http";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";

const METRICS_TOKEN = "t".repeat(32);

/** The open pages, from addresses with 50 pages each: a client may have 100 event streams. */
const PAGES = 600;
const PAGES_PER_ADDRESS = 50;

let project: TestProject;
let server: RunningServer;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  project = await buildLiveApp();
  server = await startBuilt(project.dir, {
    WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
    WEB_TRUST_PROXY: "1",
    WEB_METRICS_TOKEN: METRICS_TOKEN,
  });
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

afterAll(async () => {
  await server?.stop();
  project?.remove();
});

const portOf = ({ address }: RunningServer) => Number(new URL(address).port);

/** What an open page has received. */
interface OpenPage {
  readonly socket: Socket;
  text: string;
}

/** Opens the event stream of a page. Returns the page when the stream is open, and `null` if it was refused or closed. */
function openPage(port: number, path: string, localAddress: string): Promise<OpenPage | null> {
  const page: OpenPage = { socket: connect({ port, host: "127.0.0.1", localAddress }), text: "" };
  cleanups.push(() => page.socket.destroy());
  page.socket.setEncoding("utf8").write(`GET ${path} HTTP/1.1\r\nHost: shop.example\r\n\r\n`);
  return new Promise((resolve) => {
    page.socket.on("data", (chunk: string) => {
      page.text += chunk;
      if (page.text.includes("\r\n\r\n")) resolve(page.text.startsWith("HTTP/1.1 200") ? page : null);
    });
    page.socket.on("error", () => resolve(null)).on("close", () => resolve(null));
  });
}

/** Opens the pages. Returns those whose event stream is open, and has received a message that is published after that. */
async function openPages(nginx: Nginx): Promise<number> {
  const [feed = ""] = await callFunction<string[]>(server.address, "issue_feeds", { names: ["room"] });
  const opening = Array.from({ length: PAGES }, (_, n) =>
    openPage(nginx.port, `/__web/live?feed=${feed}`, `127.0.0.${10 + Math.floor(n / PAGES_PER_ADDRESS)}`),
  );
  const pages = (await Promise.all(opening)).filter((page) => page !== null);
  const text = `message-${randomBytes(4).toString("hex")}`;
  await callFunction(server.address, "publish_texts", { room: "room", texts: [text] });
  await expect.poll(() => pages.filter((page) => page.text.includes(text)).length).toBe(pages.length);
  return pages.length;
}

it("nginx with the recipe holds 600 open pages, and with Debian's number of connections fewer than 384", async () => {
  const ports = [portOf(server)];
  const debian = await Nginx.start({ ports, usesRecipe: true, workerConnections: 768 });
  cleanups.push(() => debian.stop());
  const ofDebian = await openPages(debian);
  expect(ofDebian).toBeGreaterThan(0);
  expect(ofDebian).toBeLessThan(384);
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();

  const nginx = await Nginx.start({ ports, usesRecipe: true });
  cleanups.push(() => nginx.stop());
  expect(await openPages(nginx)).toBe(PAGES);
});

describe.each([
  ["nginx", () => Nginx.start({ ports: [portOf(server)], usesRecipe: true })],
  ["Caddy", () => Caddy.start({ ports: [portOf(server)] })],
])("%s with the recipe", (_, start) => {
  it("responds with 403 to requests for the metrics, which a process sends to those who have the token", async () => {
    const proxy = await start();
    cleanups.push(() => proxy.stop());
    const get = (address: string, path: string) => {
      const host = `Host: ${new URL(address).host}`;
      return sendRequest(address, `GET ${path} HTTP/1.1`, host, `Authorization: Bearer ${METRICS_TOKEN}`);
    };
    expect(await get(server.address, "/metrics")).toMatchObject({
      status: 200,
      body: expect.stringContaining("tsweb_requests_total"),
    });
    await expect.poll(async () => (await get(proxy.address, "/")).body).toContain("<main>");
    expect(await get(proxy.address, "/metrics")).toMatchObject({ status: 403 });
    const spellings = [
      "/metrics?a",
      "/%6Detrics",
      "/./metrics",
      "/x/../metrics",
      "//metrics",
      "/metrics/",
      "/METRICS",
      "/metrics%2F",
      "/metrics;a",
    ];
    for (const path of spellings) {
      const response = await get(proxy.address, path);
      expect([path, response.body], path).toEqual([path, expect.not.stringContaining("tsweb_requests_total")]);
      expect(response.status).not.toBe(200);
    }
  });
});
