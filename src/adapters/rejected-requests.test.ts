import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { openSocket, parseResponse, readToEnd, sendBytes } from "#test/raw-http";
import type { NodeHandler } from "./node.ts";
import { answerRejectedRequests, requireHost } from "./rejected-requests.ts";
import { serverOptions } from "./serve.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const neverCalled: NodeHandler = (_, response) => response.writeHead(599).end();

/** Starts a server as `serve` does, for an application with the base `/shop`, and returns its address. */
async function start(handler: NodeHandler = neverCalled, options: object = {}): Promise<string> {
  const started = createServer({ ...serverOptions(process.versions), ...options }, requireHost(handler, "/shop"));
  server = started;
  answerRejectedRequests(started, "/shop");
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`; // it listens on a port, not on a pipe
}

const HOST = "Host: shop.example";
const IDS = "X-Request-Id: my-id\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const CALL = "/shop/__web/rpc/add";

/** Each request that Node rejects: its lines after the path, and the expected status. */
const REJECTED = [
  ["an unknown method", (path: string) => `FOO ${path} HTTP/1.1\r\n${HOST}\r\n${IDS}`, 400],
  ["a malformed header", (path: string) => `POST ${path} HTTP/1.1\r\n${HOST}\r\n${IDS}\r\nb@d name: x`, 400],
  [
    "two lengths",
    (path: string) => `POST ${path} HTTP/1.1\r\n${HOST}\r\n${IDS}\r\nContent-Length: 1\r\nContent-Length: 2`,
    400,
  ],
  [
    "headers that are too large",
    (path: string) => `POST ${path} HTTP/1.1\r\n${HOST}\r\n${IDS}\r\nX: ${"y".repeat(20_000)}`,
    431,
  ],
  ["an unknown expectation", (path: string) => `POST ${path} HTTP/1.1\r\n${HOST}\r\n${IDS}\r\nExpect: pie`, 417],
  ["no Host", (path: string) => `POST ${path} HTTP/1.1\r\n${IDS}`, 400],
] as const;

describe("the requests after one with", () => {
  it.each([
    ["an unknown expectation", `GET / HTTP/1.1\r\n${HOST}\r\nExpect: pie\r\n\r\n`],
    ["no Host", "GET / HTTP/1.1\r\n\r\n"],
  ])("%s are not read, while an earlier one waits for its response [REQUEST-70]", async (_, rejected) => {
    let endFirst = () => {};
    const address = await start((_request, response) => {
      endFirst = () => void response.end("<first>");
    });
    let handled = 0;
    for (const event of ["request", "checkExpectation"]) server?.prependListener(event, () => handled++);
    const socket = await openSocket(address);
    const received = readToEnd(socket);
    socket.write(`GET / HTTP/1.1\r\n${HOST}\r\n\r\n`);
    for (let write = 0; write < 3; write++) {
      await new Promise((resolve) => socket.write(rejected.repeat(2_000), resolve));
    }
    await expect.poll(() => handled).toBeGreaterThan(1);
    await new Promise((resolve) => setTimeout(resolve, 50)); // nothing shows that a third request is not handled
    expect(handled).toBe(2);
    endFirst();
    const { text } = await received;
    expect(text.match(/<first>|HTTP\/1\.1 4\d\d/g)).toEqual(["<first>", expect.stringMatching(/ 4(00|17)$/)]);
  });
});

describe("a request with", () => {
  it.each(REJECTED)("%s gets its ids, and an error body if it is a call [SITE-28]", async (_, head, status) => {
    const address = await start();
    const call = parseResponse(await sendBytes(address, `${head(CALL)}\r\n\r\n`));
    expect(call.status).toBe(status);
    expect(call.headers).toMatchObject({
      "x-request-id": "my-id",
      traceparent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/),
      "content-type": "application/json",
      "cache-control": "private, no-store",
      "x-content-type-options": "nosniff",
      connection: "close",
      "content-length": String(Buffer.byteLength(call.body)),
    });
    expect(JSON.parse(call.body)).toEqual({
      error: { code: "validation_error", message: expect.stringMatching(/./), details: {} },
    });
    const page = parseResponse(await sendBytes(address, `${head("/page")}\r\n\r\n`));
    expect(page.status).toBe(status);
    expect(page.headers).toMatchObject({ "x-request-id": "my-id", "content-type": "text/plain; charset=utf-8" });
  });

  it.each(["\0\0\0\r\n\r\n", "\r\n\r\n\r\nGET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "/shop/__web/rpc/add\r\n\r\n"])(
    "the bytes %j gets new ids and a text",
    async (bytes) => {
      const response = parseResponse(await sendBytes(await start(), bytes));
      expect(response.status).toBe(400);
      expect(response.headers).toMatchObject({
        "x-request-id": expect.stringMatching(/^[0-9a-f]{32}$/),
        traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/),
        "content-type": "text/plain; charset=utf-8",
      });
    },
  );

  it("a request id that was sent twice, or is not valid, gets a new one", async () => {
    const address = await start();
    for (const id of ["X-Request-Id: a\r\nX-Request-Id: b", "X-Request-Id: <a>", "X-Request-Id: a b\x0b"]) {
      const { headers } = parseResponse(await sendBytes(address, `FOO / HTTP/1.1\r\n${HOST}\r\n${id}\r\n\r\n`));
      expect(headers["x-request-id"]).toMatch(/^[0-9a-f]{32}$/);
    }
  });

  it("a malformed body gets the ids of its head, which arrived before", async () => {
    let received = () => {};
    const arrived = new Promise<void>((resolve) => {
      received = resolve;
    });
    const socket = await openSocket(await start(() => received()));
    const response = readToEnd(socket);
    socket.write(`POST ${CALL} HTTP/1.1\r\n${HOST}\r\n${IDS}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    await arrived;
    socket.write("not a chunk\r\n");
    const { status, headers, body } = parseResponse(await response);
    expect([status, headers["x-request-id"]]).toEqual([400, "my-id"]);
    expect(JSON.parse(body).error.code).toBe("validation_error");
  });

  it("headers that do not arrive in time gets 408 with ids", async () => {
    const address = await start(neverCalled, {
      headersTimeout: 100,
      requestTimeout: 200,
      connectionsCheckingInterval: 50,
    });
    const socket = await openSocket(address);
    const response = readToEnd(socket);
    socket.write(`POST ${CALL} HTTP/1.1\r\n${HOST}\r\n`);
    const { status, headers } = parseResponse(await response);
    expect([status, headers["x-request-id"]]).toEqual([408, expect.stringMatching(/^[0-9a-f]{32}$/)]);
  });

  it("a malformed body closes the connection if its response has begun, and adds nothing to it", async () => {
    const address = await start(
      (_, response) => void response.writeHead(200, { "content-length": "100" }).write("begun"),
    );
    const socket = await openSocket(address);
    const response = readToEnd(socket);
    socket.write(`POST /x HTTP/1.1\r\n${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    await expect.poll(() => socket.bytesRead).toBeGreaterThan(0);
    socket.write("not a chunk\r\n");
    expect((await response).text).toMatch(/\r\n\r\nbegun$/);
  });

  it("HTTP/1.0 needs no Host", async () => {
    const response = await sendBytes(await start((_, res) => res.end("served")), "GET / HTTP/1.0\r\n\r\n");
    expect(response.text).toMatch(/served$/);
  });
});

it("a client that keeps its connection open after a rejected request is disconnected", async () => {
  const socket = await openSocket(await start());
  socket.allowHalfOpen = true;
  socket.on("error", () => undefined); // the connection may be reset
  socket.write("FOO / HTTP/1.1\r\n\r\n");
  await expect.poll(() => socket.bytesRead).toBeGreaterThan(0);
  await expect
    .poll(() => new Promise((resolve) => server?.getConnections((_, count) => resolve(count))), { timeout: 5_000 })
    .toBe(0);
  socket.destroy();
});
