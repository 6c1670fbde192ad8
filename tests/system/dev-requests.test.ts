/**
 * Requests that the development server must reject: for other hosts, and for the text of server modules.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSocket, readUntil, sendRequest } from "#test/raw-http";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

/** A random text in the server module, which no client may receive. */
const MARKER = `marker-${randomBytes(8).toString("hex")}`;

let project: TestProject;
let dev: RunningServer;

beforeAll(async () => {
  project = TestProject.copy();
  const file = "src/functions.server.ts";
  project.write(file, `${project.read(file)}\n/* ${MARKER} */ console.log(${JSON.stringify(MARKER)});\n`);
  project.write("vite.config.js", 'export default { server: { allowedHosts: ["dev.shop.example"] } };\n');
  dev = await startDev(project.dir);
});

afterAll(async () => {
  const code = await dev?.stop();
  project?.remove();
  expect(code).toBe(0);
});

describe("a request to the development server", () => {
  it.each(["localhost", "localhost:1", "127.0.0.1", "127.8.9.1:80", "[::1]:3000", "shop.localhost"])(
    "for the host %s is accepted",
    async (host) => {
      expect((await sendRequest(dev.address, "GET /plain HTTP/1.1", `Host: ${host}`)).status).toBe(200);
    },
  );

  it.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "192.168.1.2",
    "0.0.0.0",
    "notlocalhost",
    "[::2]",
    "",
    "localhost@evil.example",
  ])("for the host %j is rejected, for pages and modules", async (host) => {
    for (const path of [
      "/plain",
      "/__web/dev/src/counter.tsx",
      "/__web/dev/@vite/client",
      "/__web/dev/@tsweb/edits",
      "/robots.txt",
    ]) {
      expect((await sendRequest(dev.address, `GET ${path} HTTP/1.1`, `Host: ${host}`)).status).toBe(403);
    }
  });

  it.each([
    "/src/functions.server.ts",
    "/src/functions.server.ts?raw",
    "/src/functions.server.ts?import&url",
    "/src%2ffunctions.server.ts",
    "/src/./functions.server.ts",
    "/src/x/../functions.server.ts",
    "/SRC/../src/functions.server.ts?v=1",
    "//src/functions.server.ts",
    "/@fs/ROOT/src/functions.server.ts?raw",
    "/@id/ROOT/src/functions.server.ts",
    "/src/functions.server",
    "/src/functions.server.ts%00",
    "/src/functions.server.ts.map",
    "/src\\functions.server.ts",
  ])("for a server module by the path %s does not return its text", async (path) => {
    for (const target of [path, `/__web/dev${path}`]) {
      const line = `GET ${target.replace("/ROOT", project.dir)} HTTP/1.1`;
      const { status, body } = await sendRequest(dev.address, line, "Host: localhost");
      expect([400, 404]).toContain(status);
      expect(body).not.toContain(MARKER);
    }
  });

  it.each(["/src/functions%2Eserver.ts", "/%73rc/functions.server.ts"])(
    "for a server module by the encoded path %s is redirected to the normal form of the path, without its text",
    async (path) => {
      for (const base of ["", "/__web/dev"]) {
        const line = `GET ${base}${path} HTTP/1.1`;
        const { status, body, headers } = await sendRequest(dev.address, line, "Host: localhost");
        expect([status, headers.location]).toEqual([308, `${base}/src/functions.server.ts`]);
        expect(body).not.toContain(MARKER);
      }
    },
  );

  it("shows the error of a page with source lines to this machine only [DEV-15]", async () => {
    const request = "GET /broken?now=1 HTTP/1.1";
    const local = await sendRequest(dev.address, request, "Host: localhost");
    expect([local.status, local.body]).toEqual([500, expect.stringContaining("Broken on purpose")]);
    const remote = await sendRequest(dev.address, request, "Host: dev.shop.example", "X-Request-Id: this-one");
    expect([remote.status, remote.body]).toEqual([500, expect.stringContaining("this-one")]);
    expect(remote.body).not.toMatch(/Broken|pages\.server|Stack/);
  });

  it("shows no source line of an error through a tunnel that names this machine as the host [DEV-16]", async () => {
    const headers = ["Host: localhost", "X-Forwarded-For: 203.0.113.7", "X-Request-Id: this-one"];
    const tunnel = await sendRequest(dev.address, "GET /broken?now=1 HTTP/1.1", ...headers);
    expect([tunnel.status, tunnel.body]).toEqual([500, expect.stringContaining("this-one")]);
    expect(tunnel.body).not.toMatch(/Broken|pages\.server|Stack/);
  });

  it("sends no source line of a server module over the WebSocket of edits [DEV-17]", async () => {
    const { body } = await sendRequest(dev.address, "GET /__web/dev/@vite/client HTTP/1.1", "Host: localhost");
    const [, token = ""] = /wsToken = "([^"]+)"/.exec(body) ?? [];
    await sendRequest(dev.address, "GET / HTTP/1.1", "Host: localhost");
    await sendRequest(dev.address, "GET /__web/dev/src/counter.tsx HTTP/1.1", "Host: localhost");
    const socket = await openSocket(dev.address);
    const head = ["Host: dev.shop.example", "Origin: http://dev.shop.example", "Connection: Upgrade"];
    const key = ["Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];
    const lines = [`GET /__web/dev/?token=${token} HTTP/1.1`, ...head, ...key, "Sec-WebSocket-Protocol: vite-hmr"];
    const received = readUntil(socket, /"type":"error".*\}/s);
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    const restore = project.edit(
      "src/functions.server.ts",
      "(name: string) =>",
      `(...name: string[]) => /* ${MARKER} */`,
    );
    const stubs = "/__web/dev/@id/__x00__tsweb-stub:src/functions.server.ts.js";
    const status = async () => (await sendRequest(dev.address, `GET ${stubs} HTTP/1.1`, "Host: localhost")).status;
    await expect.poll(status).toBe(404);
    const text = await received;
    expect(text).toContain("A server module has an error");
    expect(text).not.toContain(MARKER);
    expect(text).not.toContain("name: string");
    restore();
    await expect.poll(status).toBe(200);
    socket.destroy();
  });

  it("for the WebSocket of edits is accepted from the application's own pages only, and only with Vite's token", async () => {
    const { body } = await sendRequest(dev.address, "GET /__web/dev/@vite/client HTTP/1.1", "Host: localhost");
    const [, token = ""] = /wsToken = "([^"]+)"/.exec(body) ?? [];
    expect(token).not.toBe("");
    const { host, origin } = new URL(dev.address);
    const statusFor = async (path: string, sentOrigin: string) => {
      const socket = await openSocket(dev.address);
      const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
      const key = ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: vite-hmr"];
      const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, `Origin: ${sentOrigin}`, ...upgrade, ...key];
      const text = readUntil(socket, /\r\n/);
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
      const [, status] = /^HTTP\/1\.1 (\d+)/.exec(await text) ?? [];
      socket.destroy();
      return Number(status);
    };
    expect(await statusFor(`/__web/dev/?token=${token}`, origin)).toBe(101);
    expect(await statusFor("/__web/dev/", origin)).toBe(400);
    for (const other of ["https://evil.example", "http://localhost:1", "null"]) {
      expect(await statusFor(`/__web/dev/?token=${token}`, other)).toBe(403);
    }
  });
});
