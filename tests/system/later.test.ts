/**
 * Pages with parts on a socket: over HTTP/1.0, compressed, and behind nginx as `deploy/` configures it.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LATER_APP } from "#test/later-app";
import { Nginx } from "#test/nginx";
import { openSocket, readToEnd } from "#test/raw-http";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import { TestProject } from "#test/test-project";

let project: TestProject;
let server: RunningServer;

beforeAll(async () => {
  project = TestProject.fromFiles(LATER_APP);
  await buildOnce(project.dir, "later");
  server = await startBuilt(project.dir, {
    WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
    WEB_METRICS_TOKEN: METRICS_TOKEN,
    WEB_TRUST_PROXY: "1",
  });
});

afterAll(async () => {
  await server?.stop();
  project?.remove();
});

const METRICS_TOKEN = randomBytes(16).toString("hex");

/** Makes a part ready, once it waits. */
async function release(part: string): Promise<void> {
  await expect.poll(async () => (await fetch(`${server.address}/release/${part}`)).json()).toEqual({ found: true });
}

/** Requests a page as a browser that loads it. */
async function load(address: string, path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const request = get(address + path, {
    headers: { "sec-fetch-mode": "navigate", "sec-fetch-site": "none", ...headers },
  });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response;
}

/** Collects the text of a stream. */
function collect(stream: Readable): { text: string } {
  const received = { text: "" };
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    received.text += chunk;
  });
  return received;
}

/** Expects each part of `/table` to arrive when it is ready, before the next one is. */
async function expectParts(received: { readonly text: string }): Promise<void> {
  await expect.poll(() => received.text).toContain("waiting for text");
  await release("text");
  await expect.poll(() => received.text).toContain('<p id="text">the text</p></template>');
  expect(received.text).not.toContain("row 1");
  await release("rows");
  await expect.poll(() => received.text).toContain("</body></html>");
  expect(received.text).toContain('<td class="row">row 2</td></tr></template>');
}

describe("a page with parts", () => {
  it.each([
    ["br", createBrotliDecompress],
    ["gzip", createGunzip],
  ])("is readable up to each part in the content coding %s", async (coding, decompress) => {
    const response = await load(server.address, "/table", { "accept-encoding": coding });
    expect(response.headers["content-encoding"]).toBe(coding);
    await expectParts(collect(response.pipe(decompress())));
  });

  it("is not compressed for a page that another site has requested with cookies [LATER-6]", async () => {
    const headers = { "accept-encoding": "br", "sec-fetch-site": "cross-site", cookie: "a=b" };
    const response = await load(server.address, "/table", headers);
    expect(response.headers["content-encoding"]).toBeUndefined();
    await expectParts(collect(response));
  });

  it("ends with the connection over HTTP/1.0", async () => {
    const socket = await openSocket(server.address);
    const received = readToEnd(socket);
    socket.write("GET /table HTTP/1.0\r\nHost: localhost\r\nSec-Fetch-Mode: navigate\r\n\r\n");
    await release("text");
    await release("rows");
    const { text, isReset } = await received;
    expect(isReset).toBe(false);
    expect(text.toLowerCase()).not.toContain("transfer-encoding");
    expect(text).toMatch(/<p id="text">the text<\/p><\/template>.*<\/body><\/html>$/s);
  });

  it("arrives part by part through nginx", async () => {
    const nginx = await Nginx.start({ ports: [Number(new URL(server.address).port)], usesRecipe: true });
    try {
      const response = await load(nginx.address, "/table", { "accept-encoding": "br" });
      await expectParts(collect(response.pipe(createBrotliDecompress())));
    } finally {
      await nginx.stop();
    }
  });

  it("is counted in the metrics when a part fails", async () => {
    const response = await load(server.address, "/failing");
    const received = collect(response);
    await release("failing");
    await expect.poll(() => received.text).toContain("</body></html>");
    const metrics = async () =>
      (await fetch(`${server.address}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })).text();
    await expect.poll(metrics).toContain('tsweb_failed_parts_total{name="/failing"} 2');
    await expect.poll(metrics).toContain('tsweb_requests_total{kind="page",name="/failing",status="200"} 1');
  });

  it("sends a large part completely to a client that reads it slowly", async () => {
    const response = await load(server.address, "/large", { "accept-encoding": "gzip" });
    const stream = response.pipe(createGunzip());
    let length = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      length += chunk.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(length).toBeGreaterThan(4_000_000);
  });
});
