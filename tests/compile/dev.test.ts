import { symlinkSync } from "node:fs";
import { createServer as createHttpServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { HotPayload, InlineConfig, ViteDevServer } from "vite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseMarkedCode } from "#test/in-memory-modules";
import { registryOf } from "../../src/compile/vite.ts";
import { Project } from "./project.ts";

const MARKER = "MARKER-d0d0";

const FILES = {
  "src/app.ts":
    'import { App } from "tsweb";\nimport * as accounts from "./accounts.server.ts";\nexport default new App({ modules: [accounts] });',
  "src/accounts.server.ts": `import { server } from "tsweb";\nconst secret = "${MARKER}";\nexport const db = secret;\nexport const login = server(async (email: string) => email + secret);`,
  "src/sign-in.tsx":
    'import { view } from "tsweb/browser";\nimport { login } from "./accounts.server.ts";\nexport const SignIn = view(() => <button onClick={() => login("a")} />);',
};

let project: Project;
let vite: ViteDevServer;
let port: number;
let stop: () => void;

beforeEach(async () => {
  project = new Project(FILES);
  await start();
});

afterEach(() => stop());

async function start(config: InlineConfig = {}): Promise<void> {
  vite = await project.serve(config);
  const http = createHttpServer((req, res) => {
    vite.middlewares(req, res, () => {
      res.statusCode = 418;
      res.end("Not handled by the development server.");
    });
  });
  await new Promise<void>((listening) => http.listen(0, "127.0.0.1", listening));
  port = (http.address() as AddressInfo).port; // not a string: it listens on a port
  stop = () => {
    http.close();
    http.closeAllConnections();
  };
}

/** Sends a request with exactly this path: the client neither resolves nor encodes it. */
function get(path: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const req = request({ port, host: "127.0.0.1", path, headers, agent: false }, async (response) => {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      resolve({ status: response.statusCode ?? 0, text });
    });
    req.on("error", reject).end();
  });
}

const STUBS = "/@id/__x00__tsweb-stub:src/accounts.server.ts.js";

describe("a URL of a server-only file", () => {
  const urls = [
    "/src/accounts.server.ts",
    "/src/accounts.server.ts?raw",
    "/src/accounts.server.ts?import&raw",
    "/src/accounts.server.ts?url",
    "/src/accounts.server.ts?import",
    "/src/accounts.server.ts?t=123",
    "/src/accounts.server.ts?v=1",
    "/src/accounts.server.ts?worker",
    "/src/accounts.server.ts?worker_file&type=module",
    "/src/accounts.server.ts?inline",
    "/src/accounts.server.ts?html-proxy&index=0.js",
    "/src/accounts.server.ts?direct",
    "/src/accounts.server.ts?",
    "/src/accounts.server.ts.map",
    "/src/accounts.server?import",
    "/src/accounts.server?import&raw",
    "/src/../src/accounts.server.ts",
    "/src/./accounts.server.ts",
    "//src/accounts.server.ts",
    "/src//accounts.server.ts",
    "/src/accounts%2Eserver.ts",
    "/src/accounts%252Eserver.ts",
    "/%73rc/%61ccounts.server.ts?raw",
    "/src%2Faccounts.server.ts",
    "/src%5Caccounts.server.ts",
    "/src/accounts.server.ts%3Fraw",
    "/src/accounts.server.ts%00",
    "/src/accounts.server.ts%20",
    "/src/accounts.server.ts.",
    "/src/ACCOUNTS.server.ts",
    "/src/%2e%2e/src/accounts.server.ts",
    "/@id/src/accounts.server.ts",
    "/@id//src/accounts.server.ts",
    "/@id/__x00__src/accounts.server.ts",
    "/@fs/ROOT/src/accounts.server.ts",
    "/@fs/ROOT/src/accounts.server.ts?raw",
    "/@fs/ROOT/src/accounts.server.ts?import&raw",
    "/@fs/ROOT/src/../src/accounts%2Eserver.ts",
    "/@fs//ROOT/src/accounts.server.ts",
    "/@id/ROOT/src/accounts.server.ts",
    `${STUBS}?raw`,
    `${STUBS}?url`,
    `${STUBS.replace(".ts.js", ".ts")}`,
    "/src/linked.ts",
    "/src/linked.ts?raw",
    "/src/data.server.json",
    "/src/data.server.json?raw",
    "/src/data.server.json?import",
    "/src/DATA.server.json",
    "/src/data%2Eserver.json",
    "/@fs/ROOT/src/data.server.json?url",
    "/src/keys.server/key.txt",
    "/src/keys.server%2Fkey.txt?raw",
    "/src/keys/key.txt",
    "/src/%6Beys/key.txt",
    "/@fs/ROOT/src/keys/key.txt?inline",
  ];

  test.each(urls)("%s is answered with 404 [RESPONSE-8]", async (url) => {
    project.write("src/data.server.json", `"${MARKER}"`);
    project.write("src/keys.server/key.txt", MARKER);
    symlinkSync(project.file("src/accounts.server.ts"), project.file("src/linked.ts"));
    symlinkSync(project.file("src/keys.server"), project.file("src/keys"));
    const { status, text } = await get(url.replace("/ROOT", project.root));
    expect(text).not.toContain(MARKER);
    expect(status).toBe(404);
  });

  test.each([
    "/src/accounts.server.ts#x",
    "/@fs/ROOT/src/accounts.server?import",
    "/src/accounts.server",
    "/accounts.server.ts/..",
  ])("%s is answered without the text of the module", async (url) => {
    const { status, text } = await get(url.replace("/ROOT", project.root));
    expect(text).not.toContain(MARKER);
    expect([400, 404, 418]).toContain(status);
  });

  test("is answered with 404 in a script element", async () => {
    expect((await get("/src/accounts.server", { "sec-fetch-dest": "script" })).status).toBe(404);
  });

  test("is answered with 404 under a base path", async () => {
    stop();
    await start({ base: "/prefix/" });
    for (const path of [
      "/prefix/src/accounts.server.ts",
      "/prefix/src/accounts.server.ts?raw",
      "/src/accounts.server.ts",
    ]) {
      expect(await get(path)).toMatchObject({ status: 404 });
    }
    expect((await get(`/prefix${STUBS}`)).text).toContain('stub("login", ["email"])');
  });
});

describe("the development server", () => {
  test("serves a view that imports stubs from a separate URL", async () => {
    const { status, text } = await get("/src/sign-in.tsx");
    expect(status).toBe(200);
    expect(text).toContain(`import { login } from "${STUBS}"`);
    expect(text).not.toContain(MARKER);
  });

  test("serves stubs that contain names only and have no source map", async () => {
    const { status, text } = await get(STUBS);
    expect(status).toBe(200);
    expect(text).toContain('export const login = /*#__PURE__*/ stub("login", ["email"]);');
    expect(text).not.toContain(MARKER);
    expect(text).not.toContain("sourceMappingURL");
  });

  test("includes no server code in the source map of a view", async () => {
    await get("/src/sign-in.tsx");
    const transformed = await vite.environments.client?.transformRequest("/src/sign-in.tsx");
    expect(JSON.stringify(transformed?.map)).not.toContain(MARKER);
  });

  test("fails with the location for a module with a rejected import", async () => {
    const text = 'import { «db } from "./accounts.server.ts";\nconsole.log(db);';
    project.write("src/bad.ts", parseMarkedCode(text).code);
    await expect(vite.environments.client?.transformRequest("/src/bad.ts")).rejects.toMatchObject({
      id: project.file("src/bad.ts"),
      loc: { file: project.file("src/bad.ts"), ...parseMarkedCode(text).location },
      frame: expect.stringContaining("^^"),
      message: expect.stringMatching(/^"db" of src\/accounts\.server\.ts is not a server function/),
    });
    expect((await get("/src/bad.ts")).text).not.toContain(MARKER);
  });

  test("serves other modules of the application normally", async () => {
    project.write("src/plain.ts", "export const plain: number = 1;");
    expect((await get("/src/plain.ts")).text).toContain("export const plain = 1;");
    expect((await get("/account")).status).toBe(418);
  });
});

test("the dependency scanner of Vite skips server modules", async () => {
  for (const name of ["imported-by-views", "imported-by-the-server"]) {
    project.write(`node_modules/${name}/package.json`, `{ "name": "${name}", "version": "1.0.0", "main": "index.js" }`);
    project.write(`node_modules/${name}/index.js`, "module.exports = 1;");
  }
  project.write("src/accounts.server.ts", `import "imported-by-the-server";\n${FILES["src/accounts.server.ts"]}`);
  project.write("src/sign-in.tsx", `import "imported-by-views";\n${FILES["src/sign-in.tsx"]}`);
  stop();
  await start({ optimizeDeps: { entries: ["src/sign-in.tsx"] }, cacheDir: project.file("cache") });
  const optimizer = vite.environments.client?.depsOptimizer;
  await optimizer?.init();
  await optimizer?.scanProcessing;
  const optimized = () => Object.keys(optimizer?.metadata.optimized ?? {});
  await expect.poll(optimized).toContain("imported-by-views");
  expect(optimized()).not.toContain("imported-by-the-server");
});

describe("the server environment of Vite", () => {
  test("compiles signatures and records them in the registry", async () => {
    const { client, ssr } = vite.environments;
    expect((await ssr?.transformRequest("/src/accounts.server.ts"))?.code).toMatch(/"name":\s*"login"/);
    await ssr?.transformRequest("/src/sign-in.tsx");
    await client?.transformRequest("/src/sign-in.tsx");
    const registry = registryOf(vite.config);
    expect(registry?.views()).toEqual([{ file: "src/sign-in.tsx", name: "SignIn" }]);
    expect(registry?.functions()).toMatchObject([{ name: "login", file: "src/accounts.server.ts" }]);
    expect(registry?.stubs()).toEqual([{ file: "src/accounts.server.ts", name: "login", importer: "src/sign-in.tsx" }]);
  });
});

describe("an edit", () => {
  /** Changes a file, emits the watcher event, and returns the payloads sent to the browser. */
  async function edit(name: string, text: string): Promise<HotPayload[]> {
    const sent: HotPayload[] = [];
    const { client } = vite.environments;
    if (!client) throw new Error("The server has no client environment.");
    const send = client.hot.send.bind(client.hot);
    client.hot.send = (payload: unknown) => {
      sent.push(payload as HotPayload); // Vite sends HotPayloads only
    };
    project.write(name, text);
    vite.watcher.emit("change", project.file(name));
    await expect.poll(() => sent.length).toBeGreaterThan(0);
    client.hot.send = send;
    return sent;
  }

  beforeEach(async () => {
    await get("/src/sign-in.tsx");
    await get(STUBS);
    await vite.environments.ssr?.transformRequest("/src/accounts.server.ts");
    await vite.environments.ssr?.transformRequest("/src/sign-in.tsx");
  });

  test("of a server module reloads the page and updates its stubs", async () => {
    const sent = await edit(
      "src/accounts.server.ts",
      FILES["src/accounts.server.ts"].replace("email: string", "address: string"),
    );
    expect(sent).toEqual([{ type: "full-reload", path: "*" }]);
    expect((await get(STUBS)).text).toContain('stub("login", ["address"])');
  });

  test("that removes a server function fails where the function is imported", async () => {
    await edit("src/accounts.server.ts", FILES["src/accounts.server.ts"].replace("const login", "const signIn"));
    await expect(vite.environments.client?.transformRequest("/src/sign-in.tsx")).rejects.toMatchObject({
      message: 'src/accounts.server.ts exports no server function "login". Server functions that it declares: signIn.',
    });
  });

  test("of a view updates it in place", async () => {
    const sent = await edit("src/sign-in.tsx", FILES["src/sign-in.tsx"].replace("<button", "<button title='x'"));
    expect(sent).toMatchObject([{ type: "update", updates: [{ type: "js-update", path: "/src/sign-in.tsx" }] }]);
  });
});
