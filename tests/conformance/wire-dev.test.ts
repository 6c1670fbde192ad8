/** The wire suite over the development server, and its responses while the application cannot be loaded. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { repository } from "#test/copy-example";
import { type Environment, type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { assertCloses, callRequest, expectError, expectResult, send } from "./wire/exchange.ts";
import { COMMON_ENV, type SocketTarget, socketTarget, VARIANT_ENV, type Variant } from "./wire/index.ts";
import { describeWire } from "./wire.ts";

function copyProject(): TestProject {
  const project = TestProject.copy(join(repository, "tests/conformance/fixtures/wire"));
  // The suite names hosts of other machines.
  project.write("vite.config.js", "export default { server: { allowedHosts: true } };\n");
  return project;
}

/** Configurations that do not affect the cases of each other: one server has all of them. */
const TOGETHER: readonly Variant[] = ["csrf", "proxy", "secure"];

/** The project, and the server of the configuration `plain`, which both suites use. */
let project: TestProject;
let plain: RunningServer;
let target: SocketTarget;

beforeAll(async () => {
  project = copyProject();
  plain = await startDev(project.dir, COMMON_ENV);
  target = socketTarget(plain.address);
  await expectResult(target, "ping");
});
afterAll(async () => {
  target?.close();
  await plain?.stop();
  project?.remove();
});

describeWire(
  "of the development server",
  async () => {
    const resources: { close(): unknown }[] = [];
    const start = async (env: Environment) => {
      const server = await startDev(project.dir, { ...COMMON_ENV, ...env });
      const target = socketTarget(server.address);
      resources.push(target, { close: () => server.stop() });
      return target;
    };
    let together: Promise<SocketTarget> | undefined;
    return {
      async open(variant) {
        if (variant === "plain") return target;
        if (!TOGETHER.includes(variant)) return start(VARIANT_ENV[variant]);
        together ??= start(Object.assign({}, ...TOGETHER.map((each) => VARIANT_ENV[each])));
        return together;
      },
      async close() {
        for (const resource of resources) await resource.close();
      },
    };
  },
  { hostComponents: ["development"] },
);

describe("the development server", () => {
  const untilStatus = (status: number) =>
    vi.waitFor(async () => expect((await send(target, { path: "/" })).status).toBe(status), 60_000);

  describe.each([
    ["a syntax error in a server module", "src/functions.server.ts", "export const ping =", "export const = ping"],
    ["an error while a module runs", "src/streams.server.ts", "import", 'throw new Error("the cause");\nimport'],
    ["no application as the default export of app.ts", "src/app.ts", "export default", "void"],
  ])("with %s,", (_problem, file, search, replacement) => {
    let source: string;
    beforeAll(async () => {
      source = project.read(file);
      project.edit(file, search, replacement);
      await untilStatus(500);
    });
    afterAll(async () => {
      project.write(file, source);
      await untilStatus(200);
    });

    it("responds to a call with 500 and an error body that names the request", async () => {
      const expected = { status: 500, code: "internal", message: /could not be loaded.*terminal.*Request this-one\./ };
      await expectError(target, callRequest("ping", {}, { "x-request-id": "this-one" }), expected);
      await expectError(target, callRequest("nowhere", {}, { "x-request-id": "this-one" }), expected);
    });

    it("responds to a page, a route and an unknown path with 500 and the page of the error", async () => {
      for (const path of ["/", "/files/a", "/nowhere", "/?next=/__web/rpc/ping", "/files/__web/rpc/ping"]) {
        const response = await send(target, { path });
        assert.equal(response.status, 500);
        assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
        assert.equal(response.headers.get("cache-control"), "private, no-store");
        assert.match(response.headers.get("content-security-policy") ?? "", /^default-src 'self'/);
        assert.match(response.text, /<h2>Stack<\/h2>/);
        assertCloses(response, false);
      }
    });

    it("responds to an invalid path with 400", async () => {
      assert.equal((await send(target, { path: "/a\\b" })).status, 400);
    });

    it("still responds with a script of the error page", async () => {
      const { text } = await send(target, { path: "/" });
      const [, path = ""] = /<script type="module" src="([^"]+)"/.exec(text) ?? [];
      assert.equal((await send(target, { path })).status, 200);
    });
  });
});
