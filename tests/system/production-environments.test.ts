/**
 * A built server in the environments of production: a file system that cannot be written, another user than root, process 1,
 * IPv6 only, a base path behind a proxy, and two proxies.
 */
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, readdirSync } from "node:fs";
import { get, type IncomingHttpHeaders } from "node:http";
import { request as requestTls } from "node:https";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createCertificate, TEST_HOST } from "#test/certificate";
import { startInNamespaces } from "#test/namespaces";
import { Nginx } from "#test/nginx";
import { build, type Environment, type RunningServer, startNode, startProgram } from "#test/run-tsweb";
import { TemporaryFolder } from "#test/temporary-folder";
import { TestProject } from "#test/test-project";

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as functions from "./functions.server.ts";
    import * as pages from "./pages.server.tsx";
    import "./style.css";
    const { BASE } = process.env;
    export default new App({ title: "Shop", modules: [functions, pages], rate: false, ...(BASE ? { base: BASE } : {}) });`,
  "src/style.css": "main { color: navy; }",
  "src/functions.server.ts": `
    import { writeFileSync } from "node:fs";
    import { request, server, session } from "tsweb";
    export const address = server(() => request.address);
    export const ids = server(() => ({ pid: process.pid, user: process.getuid?.() }));
    export const size = server(async (file: File) => (await file.arrayBuffer()).byteLength);
    export const revoke = server((user: string) => session.revoke(user));
    export const write = server(() => {
      try {
        writeFileSync("file", "");
        return "written";
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
    });
    export const slow = server(async () => {
      console.log("A slow call has started.");
      await new Promise((resolve) => setTimeout(resolve, 500));
      return "complete";
    });`,
  "src/pages.server.tsx": `
    import { page } from "tsweb";
    import { Address } from "./address.tsx";
    export const home = page("/", () => <main><Address /></main>);
    export const long = page("/long", () => <main>{"A long text. ".repeat(200)}</main>);`,
  "src/address.tsx": `
    import { view } from "tsweb/browser";
    import { address } from "./functions.server.ts";
    export const Address = view(() => <button onClick={() => address()}>address</button>);`,
};

const SECRET = { WEB_AUTH_SECRET: randomBytes(32).toString("hex") };
const isRoot = process.getuid?.() === 0;

let site: TestProject;
beforeAll(async () => {
  site = TestProject.fromFiles(FILES);
  await build(site.dir);
  chmodSync(site.dir, 0o755); // for another user
});
afterAll(() => site?.remove());

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Registers a server that is stopped after the test. */
function running<S extends RunningServer>(server: S): S {
  cleanups.push(() => server.signal("SIGKILL"));
  return server;
}

const startServer = async (env: Environment) =>
  running(await startNode(site.dir, ["dist/server.mjs"], { ...SECRET, ...env }));

async function call<T>(address: string, name: string, args: object = {}): Promise<T> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${address}/__web/rpc/${name}`, {
    method: "POST",
    headers,
    body: JSON.stringify({ args }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text).result;
}

/** Uploads a file that is too large for the memory of the server. */
async function upload(address: string): Promise<number> {
  const body = new FormData();
  body.set("file", new File([new Uint8Array(200_000)], "large.bin"));
  const headers = { origin: address, accept: "application/json" };
  const response = await fetch(`${address}/__web/form/size`, { method: "POST", headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text).result;
}

describe("a server whose file system cannot be written", () => {
  it("serves pages and calls, and stores uploads and revocations in the folders that can", async () => {
    const writable = new TemporaryFolder("writable");
    cleanups.push(() => writable.remove());
    const env = {
      ...SECRET,
      WEB_UPLOAD_DIR: join(writable.path, "uploads"),
      WEB_DATA_DIR: join(writable.path, "data"),
    };
    const { address, signalServer, exited } = running(
      await startInNamespaces({ dir: site.dir, env, writable: writable.path }),
    );
    expect(await call(address, "write")).toBe("EROFS");
    expect(await (await fetch(address)).text()).toContain("<button>address</button>");
    expect(await upload(address)).toBe(200_000);
    await call(address, "revoke", { user: "ada" });
    await signalServer("SIGTERM");
    expect(await exited).toBe(0);
    expect(readdirSync(writable.path)).toEqual([]); // what was written is gone with the memory
  });
});

describe("a server that is not root", () => {
  it("serves from a folder that belongs to another user, and writes to folders of its own", async () => {
    const uid = isRoot ? 1000 : process.getuid?.();
    const own = new TemporaryFolder("own");
    cleanups.push(() => own.remove());
    if (isRoot) chownSync(own.path, 1000, 1000);
    const locked = join(own.path, "locked");
    mkdirSync(locked, { mode: 0o500 });
    const env = { ...SECRET, WEB_DATA_DIR: join(own.path, "data"), WEB_UPLOAD_DIR: join(own.path, "uploads") };
    const start = (dir: string, more: Environment = {}) =>
      startProgram(process.execPath, [site.file("dist/server.mjs")], {
        dir,
        env: { ...env, ...more },
        ...(isRoot ? { uid: 1000 } : {}),
      });
    const server = running(await start(locked));
    expect(await call(server.address, "ids")).toMatchObject({ user: uid });
    expect(await call(server.address, "write")).toBe("EACCES");
    expect(await upload(server.address)).toBe(200_000);
    await call(server.address, "revoke", { user: "ada" });
    expect(await server.stop()).toBe(0);
    const forbidden = start(locked, { WEB_DATA_DIR: join(locked, "data") });
    await expect(forbidden).rejects.toThrow(/WEB_DATA_DIR .*\/locked\/data/);
  });
});

describe("a server that is process 1", () => {
  it("completes the calls in flight after SIGTERM, and exits with 0", async () => {
    const options = { dir: site.dir, env: SECRET, isProcessOne: true };
    const server = running(await startInNamespaces(options));
    expect(await call(server.address, "ids")).toMatchObject({ pid: 1 });
    const slow = call(server.address, "slow");
    await expect.poll(() => server.output()).toContain("A slow call has started.");
    await server.signalServer("SIGTERM");
    expect(await slow).toBe("complete");
    expect(await server.exited).toBe(0);
  });
});

describe("a server with HOST=::1", () => {
  it("is reachable through IPv6 only, and reads the address of its clients", async () => {
    const { address } = await startServer({ HOST: "::1" });
    expect(address).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect(await call(address, "address")).toBe("::1");
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    const { port } = new URL(address);
    const refused = await new Promise<NodeJS.ErrnoException>((resolve) => {
      get({ host: "127.0.0.1", port, agent: false }, () => resolve(new Error("It accepted the connection."))).on(
        "error",
        resolve,
      );
    });
    expect(refused.code).toBe("ECONNREFUSED");
  });
});

describe("a server with a base path behind nginx", () => {
  it("serves pages with their scripts and styles, calls and health checks below it, and nothing else", async () => {
    const { address } = await startServer({ BASE: "/shop", WEB_TRUST_PROXY: "1" });
    const nginx = await Nginx.start({ ports: [Number(new URL(address).port)], usesRecipe: true });
    cleanups.push(() => nginx.stop());
    const page = await (await fetch(`${nginx.address}/shop`)).text();
    const urls = [...page.matchAll(/(?:href|src)="([^"]+\.(?:js|css))"/g)].map(([, url = ""]) => url);
    expect(urls.length).toBeGreaterThan(1);
    for (const url of urls) {
      expect(url).toMatch(/^\/shop\/assets\//);
      expect((await fetch(new URL(url, nginx.address))).status).toBe(200);
    }
    expect(await call(`${nginx.address}/shop`, "address")).toBe("127.0.0.1");
    expect((await fetch(`${nginx.address}/shop/readyz`)).status).toBe(200);
    for (const path of ["/", "/readyz", "/__web/rpc/address"]) {
      expect([path, (await fetch(nginx.address + path)).status]).toEqual([path, 404]);
    }
  });
});

describe("a server behind an nginx that compresses by default", () => {
  it("compresses pages by its own rules: never a personal page that another site has requested [RESPONSE-30]", async () => {
    const { address } = await startServer({ WEB_TRUST_PROXY: "1" });
    const nginx = await Nginx.start({ ports: [Number(new URL(address).port)], usesRecipe: true, gzip: true });
    cleanups.push(() => nginx.stop());
    const coding = async (headers: Record<string, string>) => {
      const response = await fetch(`${nginx.address}/long`, { headers: { "accept-encoding": "gzip", ...headers } });
      expect(await response.text()).toContain("A long text. A long text.");
      return response.headers.get("content-encoding");
    };
    expect(await coding({ cookie: "theme=dark", "sec-fetch-site": "cross-site" })).toBeNull();
    expect(await coding({ cookie: "theme=dark" })).toBeNull();
    expect(await coding({ cookie: "theme=dark", "sec-fetch-site": "same-origin" })).toBe("gzip");
    expect(await coding({})).toBe("gzip");
  });
});

describe("a server behind two proxies", () => {
  let outer: Nginx;
  let ca: string;

  /** Calls through both proxies, from another address than theirs. */
  function send(headers: IncomingHttpHeaders): Promise<{ readonly status: number | undefined; readonly body: string }> {
    return new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: outer.port, localAddress: "127.0.0.2", servername: TEST_HOST, ca };
      const all = { host: TEST_HOST, "content-type": "application/json", ...headers };
      const sent = requestTls({ ...options, method: "POST", path: "/__web/rpc/address", headers: all, agent: false });
      sent.on("error", reject).on("response", async (response) => {
        resolve({ status: response.statusCode, body: String(Buffer.concat(await response.toArray())) });
      });
      sent.end('{"args":{}}');
    });
  }

  async function startProxies(env: Environment): Promise<void> {
    const { address } = await startServer(env);
    const folder = new TemporaryFolder("certificate");
    cleanups.push(() => folder.remove());
    const certificate = createCertificate(folder.path);
    ca = certificate.pem;
    const inner = await Nginx.start({ ports: [Number(new URL(address).port)] });
    cleanups.push(() => inner.stop());
    outer = await Nginx.start({ ports: [inner.port], usesRecipe: true, certificate });
    cleanups.push(() => outer.stop());
  }

  it("reads the address of the client and the origin of the site with WEB_TRUST_PROXY=2, not what a client claims", async () => {
    await startProxies({ WEB_TRUST_PROXY: "2" });
    const origin = `https://${TEST_HOST}`;
    const client = { status: 200, body: '{"result":"127.0.0.2"}' };
    expect(await send({ origin })).toEqual(client);
    const forged = { "x-forwarded-for": "192.0.2.1, 192.0.2.2", "x-forwarded-host": "other.example" };
    expect(await send({ origin, ...forged })).toEqual(client);
    expect(await send({ origin: "https://other.example", ...forged })).toMatchObject({ status: 403 });
    expect(await send({ origin: `http://${TEST_HOST}` })).toMatchObject({ status: 403 });
  });

  it("takes the inner proxy for the client with WEB_TRUST_PROXY=1", async () => {
    await startProxies({ WEB_TRUST_PROXY: "1", WEB_ORIGIN: `https://${TEST_HOST}` });
    expect(await send({ origin: `https://${TEST_HOST}` })).toEqual({ status: 200, body: '{"result":"127.0.0.1"}' });
  });
});
