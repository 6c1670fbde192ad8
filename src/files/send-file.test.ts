import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { compiledRoute, createTestApp } from "#test/compiled-app";
import { listen } from "#test/listen";
import { node } from "../adapters/index.ts";
import { type SendFileOptions, send_file } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "tsweb-send-"));
const root = join(folder, "files");
mkdirSync(join(root, "sub"), { recursive: true });
mkdirSync(join(root, ".hidden"));
writeFileSync(join(root, "a.txt"), "0123456789");
writeFileSync(join(root, "sub/Größe.PNG"), "png");
writeFileSync(join(root, "empty.txt"), "");
writeFileSync(join(root, "page.html"), "<script>alert(1)</script>");
writeFileSync(join(root, ".env"), "SECRET=1");
writeFileSync(join(root, ".hidden/a.txt"), "hidden");
writeFileSync(join(folder, "secret.txt"), "secret");
writeFileSync(`${root}-other`, "sibling");
symlinkSync(join(folder, "secret.txt"), join(root, "link.txt"));
symlinkSync(folder, join(root, "up"));
symlinkSync(join(root, "a.txt"), join(root, "inner.txt"));
symlinkSync(join(root, ".env"), join(root, "env.txt"));

let options: Partial<SendFileOptions> = {};
const files = compiledRoute("GET /files", (request) =>
  send_file({ root, name: new URL(request.url).searchParams.get("name") ?? "", ...options }),
);
const app = createTestApp({ files }, { rate: false });
const server = await listen(node(app));
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

type Send = (name: string, init?: RequestInit) => Promise<Response>;
const path = (name: string) => `/files?name=${encodeURIComponent(name)}`;
const inProcess: Send = (name, init) => app.fetch(new Request(`http://localhost${path(name)}`, init));
const overHttp: Send = (name, init) => fetch(server.address + path(name), init);

describe.each([
  ["app.fetch", inProcess],
  ["Node's server", overHttp],
])("send_file by %s", (_, send) => {
  it("sends the file, to be saved under its name", async () => {
    options = {};
    const response = await send("a.txt");
    expect(await response.text()).toBe("0123456789");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "content-length": "10",
      "content-disposition": 'attachment; filename="a.txt"',
      "accept-ranges": "bytes",
      "cache-control": "private, no-cache",
      etag: expect.stringMatching(/^W\/".+"$/),
      "x-content-type-options": "nosniff",
    });
  });

  it("sends a file of a subfolder, of any name and type, and an empty one", async () => {
    options = {};
    const image = await send("sub/Größe.PNG");
    expect([await image.text(), image.headers.get("content-disposition")]).toEqual([
      "png",
      "attachment; filename=\"Gr__e.PNG\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.PNG",
    ]);
    expect(image.headers.get("content-type")).toBe("image/png");
    expect(await (await send("empty.txt")).text()).toBe("");
    options = { save_as: "Rechnung 1.txt", type: "application/x-invoice" };
    const { headers } = await send("a.txt");
    expect(headers.get("content-disposition")).toBe('attachment; filename="Rechnung 1.txt"');
    expect(headers.get("content-type")).toBe("application/x-invoice");
  });

  it("sends the requested range", async () => {
    options = {};
    const part = async (range: string, headers = {}) => {
      const response = await send("a.txt", { headers: { range, ...headers } });
      return [response.status, response.headers.get("content-range"), await response.text()];
    };
    expect(await part("bytes=2-4")).toEqual([206, "bytes 2-4/10", "234"]);
    expect(await part("bytes=-3")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await part("bytes=8-")).toEqual([206, "bytes 8-9/10", "89"]);
    expect(await part("bytes=10-")).toEqual([416, "bytes */10", ""]);
    expect(await part("bytes=2-4", { "if-range": "Fri, 02 Jan 2026 03:04:05 GMT" })).toEqual([200, null, "0123456789"]);
  });

  it("sends nothing to a client whose copy is current, and no body for HEAD", async () => {
    options = {};
    const etag = (await send("a.txt")).headers.get("etag") ?? "";
    const current = await send("a.txt", { headers: { "if-none-match": etag } });
    expect([current.status, await current.text()]).toEqual([304, ""]);
    expect((await send("a.txt", { headers: { "if-none-match": '"other"' } })).status).toBe(200);
    const head = await send("a.txt", { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "10", ""]);
  });

  it("shows a file in a sandbox, which runs no script, only with inline [REQUEST-43]", async () => {
    options = { inline: true };
    const shown = await send("page.html");
    expect(shown.headers.get("content-disposition")).toBe('inline; filename="page.html"');
    expect(shown.headers.get("content-security-policy")).toBe("sandbox");
    options = {};
    const saved = await send("page.html");
    expect(saved.headers.get("content-disposition")).toMatch(/^attachment;/);
    expect(saved.headers.get("content-security-policy")).not.toBe("sandbox");
  });

  it.each([
    "missing.txt",
    "",
    ".",
    "..",
    "../secret.txt",
    "sub/../../secret.txt",
    "sub/../a.txt",
    "./a.txt",
    "..\\secret.txt",
    "sub\\..\\..\\secret.txt",
    "../files-other",
    "a.txt\0.png",
    "a.txt/",
    "//a.txt",
    "/etc/passwd",
    "sub",
    ".env",
    ".hidden/a.txt",
    "link.txt",
    "up/secret.txt",
    "env.txt",
    "%2e%2e/secret.txt",
  ])("sends nothing for the name %j [REQUEST-42]", async (name) => {
    options = {};
    const response = await send(name);
    expect(response.status).toBe(404);
    expect(await response.text()).not.toMatch(/secret|SECRET|sibling|hidden\b(?!\.)/);
  });
});

describe("send_file", () => {
  it("follows a link inside the folder", async () => {
    options = {};
    expect(await (await inProcess("inner.txt")).text()).toBe("0123456789");
  });

  it("accepts the folder as a URL, and one that does not exist yet has no files", async () => {
    options = { root: pathToFileURL(`${root}/`) };
    expect((await inProcess("a.txt")).status).toBe(200);
    options = { root: join(folder, "missing") };
    expect((await inProcess("a.txt")).status).toBe(404);
  });

  it("refuses a relative folder, an invalid type and a use outside a request", async () => {
    await expect(send_file({ root, name: "a.txt" })).rejects.toThrow("send_file() was used outside a request.");
    options = { root: relative(process.cwd(), root) };
    const response = await inProcess("a.txt");
    expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining("files")]);
    options = { type: "text/html\r\nx: y" };
    expect((await inProcess("a.txt")).status).toBe(500);
    options = {};
  });
});
