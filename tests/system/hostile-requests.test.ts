/**
 * The built server and requests that no browser sends: the server does not fail, sends no file of its own, and continues
 * to serve.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildSite, SERVER_MARKER } from "#test/built-site";
import { openSocket, parseResponse, readToEnd, readUntil, sendBytes, sendRequest } from "#test/raw-http";
import { type RunningServer, startNode } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";

let site: TestProject;
let server: RunningServer;

beforeAll(async () => {
  site = await buildSite();
  server = await startNode(site.dir, ["dist/server.mjs"], { WEB_AUTH_SECRET: randomBytes(32).toString("hex") });
});

/** The response to headers that do not arrive in time. Their time limit of 10 seconds runs during the other tests. */
let slowHeaders: Promise<string>;

beforeAll(() => {
  slowHeaders = sendSlowHeaders();
});

async function sendSlowHeaders(): Promise<string> {
  const socket = await openSocket(server.address);
  socket.write(`GET /plain HTTP/1.1\r\n${HOST}\r\nX-Slow: `);
  const slowWrites = setInterval(() => socket.write("y"), 500);
  const { text } = await readToEnd(socket);
  clearInterval(slowWrites);
  return text;
}

afterAll(async () => {
  const code = await server?.stop();
  site?.remove();
  expect(code).toBe(0);
});

/** Texts of files of the server, by file. No response may contain one of them. */
const SERVER_TEXTS = {
  "dist/server.mjs": "serve(app)",
  "dist/manifest.mjs": "export const buildManifest",
  "dist/app.mjs.map": '"mappings"',
  "src/functions.server.ts": SERVER_MARKER,
} as const;

const SECRETS = [...Object.values(SERVER_TEXTS), "root:x:0"];

const HOST = "Host: localhost";

it("the files of the server contain the texts that no response may contain", () => {
  for (const [file, text] of Object.entries(SERVER_TEXTS)) expect(site.read(file), file).toContain(text);
  for (const file of ["dist/app.mjs", "dist/app.mjs.map"]) expect(site.read(file), file).toContain(SERVER_MARKER);
  expect(readFileSync("/etc/passwd", "utf8")).toContain("root:x:0");
});

describe("a path", () => {
  const paths = [
    ["/%00", 400],
    ["/plain%00", 400],
    ["/%", 400],
    ["/%zz", 400],
    ["/%c3%28", 400],
    ["//", 400],
    ["//evil.example/", 400],
    ["/plain//", 400],
    ["/assets/..%2f..%2fserver.mjs", 400],
    ["/assets/..%5c..%5cserver.mjs", 400],
    ["/__web/rpc/%ff", 400],
    ["/__web/rpc/..%2fgreet", 400],
    ["%00", 400],
    ["?x", 400],
    ["*", 400],
    ["http://evil.example/", 200], // as with Host: evil.example
    ["http://localhost/plain", 200],
    ["http://localhost/../server.mjs", 400],
    ["http://localhost//evil.example/", 400],
    ["http://ada:x@localhost/plain", 400],
    ["http:///plain", 400],
    ["http:plain", 400],
    ["ftp://localhost/plain", 400],
    ["file:///etc/passwd", 400],
    ["/..", 400],
    ["/../../etc/passwd", 400],
    ["/%2e%2e/%2e%2e/etc/passwd", 400],
    ["/assets/../../server.mjs", 400],
    ["/assets/%2e%2e/%2e%2e/app.mjs", 400],
    ["/\\..\\..\\server.mjs", 400],
    ["/x/../plain", 400],
    ["/x/.%2E/plain", 400],
    ["/./plain", 400],
    ["/x\\..\\plain", 400],
    ["/plain#x", 400],
    ["/plain?x=/../#", 200],
    ["/\\evil.example/", 400],
    ["/server.mjs", 404],
    ["/app.mjs", 404],
    ["/app.mjs.map", 404],
    ["/manifest.mjs", 404],
    ["/client/robots.txt", 404],
    ["/.vite/manifest.json", 404],
    ["/assets/", 404],
    ["/assets", 404],
    ["/robots.txt/", 404],
    ["/src/functions.server.ts", 404],
    ["/toString", 404],
    ["/__proto__", 404],
    ["/__web/rpc/__proto__", 405],
    [`/${"a".repeat(7_000)}`, 404],
    [`/${"a".repeat(20_000)}`, 431],
    ["/robots%2etxt", 308],
    ["/%70lain", 308],
    ["/__web/rpc/%67reet", 400],
    ["/%5f%5fweb/live", 308],
    ["/healthz/", 404],
    ["/__web/live/", 404],
    ["/plain;x", 404],
    ["/plain%3bx", 404],
    ["/plain%2f", 404],
    ["/%2fetc%2fpasswd", 400],
    ["/plain/%2fx", 400],
    ["/plain?x=%zz&%", 200],
    ["/plain/?x", 308],
  ] as const;
  // Vitest shortens a value in a title if the title refers to it by a name.
  it.each(paths.map(([path, status]) => ({ path, status })))(
    "$path gets the status $status",
    async ({ path, status }) => {
      const response = await sendRequest(server.address, `GET ${path} HTTP/1.1`, HOST);
      expect(response.status).toBe(status);
      for (const secret of SECRETS) expect(response.body).not.toContain(secret);
    },
  );

  it.each([
    ["/robots%2etxt", "/robots.txt"],
    ["/%70lain?x=%2e", "/plain?x=%2e"],
    ["/plain/?a=//evil", "/plain?a=//evil"],
    ["http://evil.example/%70lain", "/plain"],
    ["http://evil.example/plain/", "/plain"],
  ])("%s is redirected on this site, to %s", async (target, location) => {
    const { status, headers } = await sendRequest(server.address, `GET ${target} HTTP/1.1`, HOST);
    expect([status, headers.location]).toEqual([308, location]);
  });
});

describe("a Host header", () => {
  const rejectedHosts = [
    "",
    "a b",
    "[::1",
    "x:99999",
    "a@b",
    "lo/cal",
    "localhost:80:80",
    "%00",
    "a\tb",
    "é",
    "a".repeat(300),
  ];
  it.each(rejectedHosts.map((host) => ({ host })))("$host is rejected", async ({ host }) => {
    expect(await sendRequest(server.address, "GET /plain HTTP/1.1", `Host: ${host}`)).toMatchObject({ status: 400 });
  });

  it.each(["x:", "[::1]:80", "shop.example", "_", "xn--bcher-kva.example:8080"])("%j is accepted", async (host) => {
    expect(await sendRequest(server.address, "GET /plain HTTP/1.1", `Host: ${host}`)).toMatchObject({ status: 200 });
  });

  it("is required once in HTTP/1.1, and optional in HTTP/1.0", async () => {
    expect((await sendRequest(server.address, "GET /plain HTTP/1.1")).status).toBe(400);
    expect((await sendRequest(server.address, "GET /plain HTTP/1.1", "Host: a", "Host: b")).status).toBe(400);
    expect((await sendRequest(server.address, "GET /plain HTTP/1.0")).status).toBe(200);
  });
});

describe("a method", () => {
  it("that is unknown is rejected by the parser", async () => {
    expect((await sendRequest(server.address, "BREW /plain HTTP/1.1", HOST)).status).toBe(400);
  });

  it.each(["PUT", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])("%s is not allowed for a page", async (method) => {
    const response = await sendRequest(server.address, `${method} /plain HTTP/1.1`, HOST);
    expect(response).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  });

  it("OPTIONS * is rejected", async () => {
    expect((await sendRequest(server.address, "OPTIONS * HTTP/1.1", HOST)).status).toBe(400);
  });

  it("CONNECT opens no tunnel", async () => {
    const { text } = await sendBytes(server.address, `CONNECT evil.example:80 HTTP/1.1\r\n${HOST}\r\n\r\n`);
    expect(text).toBe("");
  });

  it("HEAD gets the headers of GET, and no body", async () => {
    const get = await sendRequest(server.address, "GET /plain HTTP/1.1", HOST);
    const head = await sendRequest(server.address, "HEAD /plain HTTP/1.1", HOST);
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(head.headers["content-type"]).toBe(get.headers["content-type"]);
    expect(head.headers["content-security-policy"]).toBe(get.headers["content-security-policy"]);
  });
});

describe("headers", () => {
  it("are accepted or rejected with 431 in large numbers", async () => {
    const many = Array.from({ length: 2_500 }, (_, i) => `x${i % 10}: y`);
    expect([200, 431]).toContain((await sendRequest(server.address, "GET /plain HTTP/1.1", HOST, ...many)).status);
  });

  it("are rejected if they are too long", async () => {
    const long = `x: ${"y".repeat(20_000)}`;
    expect((await sendRequest(server.address, "GET /plain HTTP/1.1", HOST, long)).status).toBe(431);
  });

  it("are rejected if they declare two lengths", async () => {
    const both = ["Content-Length: 5", "Transfer-Encoding: chunked"];
    expect((await sendRequest(server.address, "POST /plain HTTP/1.1", HOST, ...both)).status).toBe(400);
  });

  it("are rejected if they contain an unknown expectation", async () => {
    expect((await sendRequest(server.address, "GET /plain HTTP/1.1", HOST, "Expect: pie")).status).toBe(417);
  });

  it.each([
    ["an unknown method", "FOO", [], 400],
    ["two lengths", "POST", ["Content-Length: 1", "Content-Length: 2"], 400],
    ["headers that are too large", "POST", [`X: ${"y".repeat(20_000)}`], 431],
    ["an unknown expectation", "POST", ["Expect: pie"], 417],
  ])(
    "of a call with %s are rejected with the ids of the request and an error body",
    async (_, method, lines, status) => {
      const requestLine = `${method} /__web/rpc/greet HTTP/1.1`;
      const response = await sendRequest(server.address, requestLine, HOST, "X-Request-Id: my-id", ...lines);
      expect(response).toMatchObject({ status, headers: { "x-request-id": "my-id", traceparent: expect.any(String) } });
      expect(JSON.parse(response.body)).toMatchObject({ error: { code: "validation_error", details: {} } });
    },
  );

  it("that request another protocol are ignored", async () => {
    const received = await sendBytes(
      server.address,
      `GET /plain HTTP/1.1\r\n${HOST}\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
    );
    expect(parseResponse(received).status).toBe(200);
  });
});

const CHUNK = Buffer.alloc(65_536, "x");
const CHUNKED = Buffer.concat([Buffer.from("10000\r\n"), CHUNK, Buffer.from("\r\n")]);
const call = (...more: string[]) =>
  `${["POST /__web/rpc/greet HTTP/1.1", HOST, "Content-Type: application/json", ...more].join("\r\n")}\r\n\r\n`;

describe("a body", () => {
  it("of a GET request is ignored", async () => {
    const head = ["GET /plain HTTP/1.1", HOST, "Connection: close"].join("\r\n");
    const declared = await sendBytes(server.address, `${head}\r\nContent-Length: 5\r\n\r\nhello`);
    const chunked = await sendBytes(
      server.address,
      `${head}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    );
    expect([declared, chunked].map((each) => parseResponse(each).status)).toEqual([200, 200]);
  });

  // A client that writes everything before it reads must receive the response instead of a reset connection.
  it.each([
    ["declared", call(`Content-Length: ${32 * CHUNK.length}`), Array<Buffer>(32).fill(CHUNK)],
    ["chunked", call("Transfer-Encoding: chunked"), [...Array<Buffer>(32).fill(CHUNKED), Buffer.from("0\r\n\r\n")]],
    [
      "declared, for a page",
      `POST /plain HTTP/1.1\r\n${HOST}\r\nContent-Length: ${32 * CHUNK.length}\r\n\r\n`,
      Array<Buffer>(32).fill(CHUNK),
    ],
  ])("of 2 MiB, %s, is rejected with a response that arrives", async (_, head, parts) => {
    const received = await sendBytes(server.address, head, ...parts);
    expect(received.isReset).toBe(false);
    expect(parseResponse(received)).toMatchObject({ status: 413, headers: { connection: "close" } });
  });

  it("of 2 MiB is rejected before it was sent if the client waits for the response", async () => {
    const socket = await openSocket(server.address);
    const response = readUntil(socket, /^HTTP\/1\.1 413 .*\r\n\r\n\{.*\}$/s);
    socket.write(call(`Content-Length: ${32 * CHUNK.length}`));
    expect(await response).toContain("validation_error");
    socket.destroy();
  });

  // The server discards only a limited number of bytes. A client that reads in between receives the response.
  it("without an end is rejected, and its connection closed", async () => {
    const socket = await openSocket(server.address);
    const received = readToEnd(socket);
    socket.write(call("Transfer-Encoding: chunked"));
    while (!socket.destroyed) {
      await new Promise<void>((resolve) => socket.write(CHUNKED, () => resolve()));
      await setImmediate();
    }
    expect(parseResponse(await received).status).toBe(413);
  });
});

describe("a connection", () => {
  it("can be used for pipelined requests", async () => {
    const request = (path: string, more = "") => `GET ${path} HTTP/1.1\r\n${HOST}\r\n${more}\r\n`;
    const { text } = await sendBytes(
      server.address,
      request("/plain") + request("/robots.txt") + request("/nowhere", "Connection: close\r\n"),
    );
    expect(text.match(/HTTP\/1\.1 \d{3}/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 404"]);
    expect(text.match(/x-request-id: /g)).toHaveLength(3);
  });

  it("that is reset in the middle of a request does not affect later requests", async () => {
    const { port } = new URL(server.address);
    for (const part of ["GET /pl", call("Content-Length: 20"), `${call("Content-Length: 20")}{"args"`]) {
      const socket = connect(Number(port), "127.0.0.1", () => socket.write(part, () => socket.resetAndDestroy()));
      await readToEnd(socket);
    }
    expect((await sendRequest(server.address, "GET /plain HTTP/1.1", HOST)).status).toBe(200);
  });
});

it("every response has the ids of its request", async () => {
  const requests = [
    "GET / HTTP/1.1",
    "GET /nowhere HTTP/1.1",
    "GET /%zz HTTP/1.1",
    "GET /robots.txt HTTP/1.1",
    "GET * HTTP/1.1",
  ];
  const calls = ["GET /__web/rpc/greet HTTP/1.1", "POST /__web/rpc/greet HTTP/1.1", "PUT /plain HTTP/1.1"];
  for (const line of [...requests, ...calls]) {
    const { headers } = await sendRequest(server.address, line, HOST, "X-Request-Id: from-a-proxy");
    expect(headers, line).toMatchObject({
      "x-request-id": "from-a-proxy",
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/),
      "x-content-type-options": "nosniff",
    });
  }
});

it("invalid ids are replaced", async () => {
  const { headers } = await sendRequest(server.address, "GET /plain HTTP/1.1", HOST, 'X-Request-Id: x","forged":"');
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f]{32}$/);
});

it("the browser's files include no file of the server", () => {
  expect(existsSync(site.file("dist/app.mjs.map"))).toBe(true);
  const text = readFileSync(site.file("dist/manifest.mjs"), "utf8");
  const { files } = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  expect(files.filter((file: string) => /\.map$|\.mjs$|server/.test(file))).toEqual([]);
});

it("headers that do not arrive in time close the connection", async () => {
  expect(await slowHeaders).toMatch(/^(HTTP\/1\.1 408 |$)/);
});

it("the server logs no error for any of the hostile requests", () => {
  expect(server.output()).not.toMatch(/"level":"error"|Error:|failed/);
});
