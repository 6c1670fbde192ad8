import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerOptions, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { listen } from "#test/listen";
import { callBytes, readToEnd, readUntil } from "#test/raw-http";
import { node } from "./node.ts";
import { whenPreviousSent } from "./pipelining.ts";
import { readIncomingText } from "./request-body.ts";
import { serverOptions } from "./serve.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** Serves a handler and opens a connection to it. */
async function connectTo(handler: RequestListener, options: ServerOptions = {}): Promise<Socket> {
  const server = await listen(handler, options);
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

/** Checks that a value does not change in 20 turns of the event loop. */
async function expectStays(read: () => unknown, value: unknown): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    expect(read()).toBe(value);
  }
}

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

  it("are not handled after a response with 429, which closes the connection", async () => {
    const handled: unknown[] = [];
    const client = await connectTo((request, response) =>
      queue(request, response, () => {
        handled.push(request.url);
        response.statusCode = request.url === "/b" ? 429 : 200;
        setImmediate(() => response.end(`<${request.url}>`));
      }),
    );
    const received = readToEnd(client);
    client.write(["/a", "/b", "/c", "/d"].map(getBytes).join(""));
    expect((await received).text).toMatch(/<\/a>HTTP\/1\.1 429 .*<\/b>$/s);
    expect(handled).toEqual(["/a", "/b"]);
  });

  it("are handled after a response with 429 that was complete before they were sent", async () => {
    const client = await connectTo((request, response) =>
      queue(request, response, () => {
        response.statusCode = 429;
        response.end(`<${request.url}>`);
      }),
    );
    client.write(getBytes("/a"));
    await readUntil(client, /<\/a>/);
    client.write(getBytes("/b"));
    await readUntil(client, /<\/b>/);
  });

  it("have their connection destroyed when they have more than 1,000 headers together", async () => {
    const urls: unknown[] = [];
    const headers = Array.from({ length: 300 }, (_, n) => `X-${n}: ${n}\r\n`).join("");
    const post = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
    const client = await connectTo((request, response) => {
      urls.push(request.url);
      queue(request, response, () => undefined);
    });
    const received = readToEnd(client);
    client.write(["/first", "/1", "/2", "/3", "/4", "/5"].map(post).join(""));
    await received;
    expect(urls).toEqual(["/first", "/1", "/2", "/3", "/4"]); // the fifth is not parsed
  });

  it("are all handled if no more than 10 wait", async () => {
    const client = await connectTo(node(createTestApp({ page: compiledPage("/", () => "here") })));
    client.write(getBytes("/").repeat(10) + getBytes("/nowhere"));
    const text = await readUntil(client, / 404 .*<\/html>$/s);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(10);
  });

  it("are read further only when it is their turn, once 32 KiB of them have arrived [REQUEST-69]", async () => {
    let endFirst = () => {};
    let serverSocket: Socket | undefined;
    const lengths: number[] = [];
    const client = await connectTo((request, response) =>
      queue(request, response, () => {
        serverSocket = request.socket;
        if (request.url === "/first") endFirst = () => void response.end("first");
        else
          void readIncomingText(request, () => undefined).then(({ length }) => {
            lengths.push(length);
            response.end(`<${lengths.length}>`);
          });
      }),
    );
    client.write(getBytes("/first"));
    await expect.poll(() => serverSocket).toBeDefined();
    const length = 200_000;
    client.write(
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n${"x".repeat(length)}`.repeat(8),
    );
    await expect.poll(() => serverSocket?.isPaused()).toBe(true);
    const { bytesRead = 0 } = serverSocket ?? {};
    expect(bytesRead).toBeLessThan(100 * 1024);
    await expectStays(() => serverSocket?.bytesRead, bytesRead);
    endFirst();
    await readUntil(client, /<8>/);
    expect(lengths).toEqual(Array.from({ length: 8 }, () => length));
  });

  it("keep their headers and the parts of their bodies while they wait, on our own server too", async () => {
    for (const options of [{}, serverOptions(process.versions)]) {
      const received: unknown[] = [];
      const client = await connectTo(
        (request, response) =>
          queue(request, response, () => {
            if (request.url === "/first") return void setTimeout(() => response.end("first"), 50);
            void readIncomingText(request, () => undefined).then((text) => {
              received.push(request.headers["x-899"], request.rawHeaders.length, text);
              response.end("<end>");
            });
          }),
        options,
      );
      const headers = Array.from({ length: 900 }, (_, n) => `X-${n}: ${n}\r\n`).join("");
      const chunks = [..."a body in parts"].map((letter) => `1\r\n${letter}\r\n`).join("");
      client.write(getBytes("/first"));
      client.write(`POST / HTTP/1.1\r\nHost: a\r\n${headers}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
      await readUntil(client, /<end>/);
      expect(received).toEqual(["899", 2 * 902, "a body in parts"]);
    }
  });

  it("do not hide that the client disconnects, with a body of 20 KB too", async () => {
    const steps: string[] = [];
    const client = await connectTo((request, response) =>
      queue(request, response, () => {
        steps.push(`${request.url} starts`);
        response.once("close", () => steps.push(`${request.url} closes`));
      }),
    );
    client.write(getBytes("/first"));
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n\r\n${"x".repeat(20_000)}`);
    await expect.poll(() => steps).toEqual(["/first starts"]);
    client.destroy();
    await expect.poll(() => steps).toEqual(["/first starts", "/first closes"]);
  });

  it("have their connection closed after 30 seconds in which it is not read", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let isClosed = false;
    const client = await connectTo((request, response) =>
      queue(request, response, () =>
        response.once("close", () => {
          isClosed = true;
        }),
      ),
    );
    client.write(getBytes("/first"));
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n${"x".repeat(90_000)}`);
    await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(0);
    vi.advanceTimersByTime(29_000);
    expect(isClosed).toBe(false);
    const closed = readToEnd(client);
    vi.advanceTimersByTime(1_000);
    await closed;
    await expect.poll(() => isClosed).toBe(true);
  });

  it("count for their client while they wait, and have their connection closed when it exceeds its limit", async () => {
    let counted = 0;
    let isOver = false;
    const clientOf = () => ({
      take: (bytes: number) => {
        counted += isOver ? 0 : bytes;
        return !isOver;
      },
      release: (bytes: number) => {
        counted -= bytes;
      },
    });
    let endFirst = () => {};
    const client = await connectTo((request, response) =>
      whenPreviousSent(request, response, {
        handle: () => {
          if (request.url === "/first") endFirst = () => void response.end("<first>");
          else response.end("<next>");
        },
        clientOf,
      }),
    );
    const closed = readToEnd(client);
    const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n${"x".repeat(5_000)}`;
    client.write(getBytes("/first") + post);
    await expect.poll(() => counted).toBeGreaterThan(5_000 + 4_096);
    endFirst();
    await expect.poll(() => counted).toBe(0);
    client.write(getBytes("/first") + post);
    await expect.poll(() => counted).toBeGreaterThan(5_000 + 4_096);
    isOver = true;
    client.write(post);
    expect((await closed).text).toContain("<next>");
    await expect.poll(() => counted).toBe(0);
  });
});
