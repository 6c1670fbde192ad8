import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { listen } from "#test/listen";
import { callBytes, readToEnd, readUntil } from "#test/raw-http";
import { node } from "./node.ts";
import { whenPreviousSent } from "./pipelining.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** Serves a handler and opens a connection to it. */
async function connectTo(handler: RequestListener): Promise<Socket> {
  const server = await listen(handler);
  opened.push(server);
  const client = connect(Number(new URL(server.address).port), "127.0.0.1");
  opened.push({ close: () => client.destroy() });
  await once(client, "connect");
  return client;
}

/** Handles a request after the earlier ones, without a limit of the client. */
const queue = (request: IncomingMessage, response: ServerResponse, handle: () => void) =>
  whenPreviousSent(request, response, { handle, clientOf: () => ({ take: () => true, release: () => undefined }) });

const getBytes = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe("pipelined requests", () => {
  it("are handled in order, each after the response before it was sent", async () => {
    const events: string[] = [];
    const client = await connectTo((request, response) =>
      queue(request, response, () => {
        events.push(`start ${request.url}`);
        response.once("finish", () => events.push(`end ${request.url}`));
        setImmediate(() => response.end(`<${request.url}>`));
      }),
    );
    client.write(getBytes("/a") + getBytes("/b") + getBytes("/c"));
    const text = await readUntil(client, /<\/c>/);
    expect(text.match(/<\/.>/g)).toEqual(["</a>", "</b>", "</c>"]);
    expect(events.slice(0, 5)).toEqual(["start /a", "end /a", "start /b", "end /b", "start /c"]);
  });

  it("do not run in the asynchronous context of the request before them", async () => {
    const storage = new AsyncLocalStorage<string>();
    const contexts: unknown[] = [];
    const client = await connectTo((request, response) =>
      queue(request, response, () => {
        contexts.push(storage.getStore());
        storage.run(`of ${request.url}`, () => setImmediate(() => response.end(`<${request.url}>`)));
      }),
    );
    client.write(getBytes("/a") + getBytes("/b") + getBytes("/c"));
    await readUntil(client, /<\/c>/);
    expect(contexts).toEqual([undefined, undefined, undefined]);
  });

  it("keep their bodies while they wait", async () => {
    const echo = compiledServer("echo", (text: string) => text, { params: { text: "any" } });
    const client = await connectTo(node(createTestApp({ echo })));
    const long = "x".repeat(200_000);
    client.write(callBytes("echo", { text: "first" }) + callBytes("echo", { text: long }));
    client.write(callBytes("echo", { text: "last" }));
    const text = await readUntil(client, /"last"\}$/);
    expect(text.match(/"result":"\w+"/g)?.map((each) => each.length)).toEqual(
      ["first", long, "last"].map((each) => `"result":"${each}"`.length),
    );
  });

  it("are not handled behind a response that never ends, nor after the connection has closed", async () => {
    const steps: string[] = [];
    const endless = (name: string) =>
      compiledServer(
        name,
        async function* () {
          try {
            steps.push(`${name} starts`);
            for (;;) yield await new Promise((resolve) => setImmediate(resolve, name));
          } finally {
            steps.push(`${name} ends`);
          }
        },
        { stream: true },
      );
    const ping = compiledServer("ping", () => steps.push("ping"));
    const client = await connectTo(node(createTestApp({ one: endless("one"), other: endless("other"), ping })));
    client.write(callBytes("one") + callBytes("other") + callBytes("ping"));
    await readUntil(client, /"chunk":"one"/);
    client.destroy();
    await expect.poll(() => steps).toContain("one ends");
    expect(steps).toEqual(["one starts", "one ends"]);
  });

  it("have their connection destroyed when more than 10 wait", async () => {
    const run = vi.fn(() => "x".repeat(100_000));
    const client = await connectTo(node(createTestApp({ page: compiledPage("/", run) })));
    client.pause(); // it reads nothing
    const received = readToEnd(client);
    client.write(getBytes("/").repeat(2_000));
    client.resume();
    await received;
    expect(run.mock.calls.length).toBeLessThanOrEqual(11);
  });

  it("are all handled if no more than 10 wait", async () => {
    const client = await connectTo(node(createTestApp({ page: compiledPage("/", () => "here") })));
    client.write(getBytes("/").repeat(10) + getBytes("/nowhere"));
    const text = await readUntil(client, / 404 .*<\/html>$/s);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(10);
  });
});
