/**
 * Requests that the development server must reject: for other hosts, and for the text of server modules.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendRequest } from "#test/raw-http";
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
    for (const path of ["/plain", "/src/counter.tsx", "/@vite/client", "/@tsweb/edits", "/robots.txt"]) {
      expect((await sendRequest(dev.address, `GET ${path} HTTP/1.1`, `Host: ${host}`)).status).toBe(403);
    }
  });

  it.each([
    "/src/functions.server.ts",
    "/src/functions.server.ts?raw",
    "/src/functions.server.ts?import&url",
    "/src/functions%2Eserver.ts",
    "/%73rc/functions.server.ts",
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
    const { status, body } = await sendRequest(
      dev.address,
      `GET ${path.replace("/ROOT", project.dir)} HTTP/1.1`,
      "Host: localhost",
    );
    expect([400, 404]).toContain(status);
    expect(body).not.toContain(MARKER);
  });
});
