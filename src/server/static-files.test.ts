import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { FetchInboundRequest, type HandlerResponse, isPushedBody } from "../http/index.ts";
import { createStaticFiles, type StaticFiles } from "./static-files.ts";

const CHANGED = new Date("2026-01-02T03:04:05.678Z");
const CONTENT: Readonly<Record<string, string>> = {
  "/assets/app-1a2b3c.js": "0123456789",
  "/assets/app-1a2b3c.js.br": "br",
  "/assets/app-1a2b3c.js.gz": "gzip",
  "/assets/logo.svg": "from public/",
  "/a b.txt": "spaces",
  "/photo.jpg": "jpeg",
  "/.env": "SECRET=1",
  "/.well-known/security.txt": "Contact: us",
  "/unlisted.txt": "unlisted",
};
const LISTED = [
  "/assets/app-1a2b3c.js",
  "/assets/logo.svg",
  "/a b.txt",
  "/photo.jpg",
  "/.env",
  "/.well-known/security.txt",
  "/deleted.txt",
  "/replaced.txt",
  "/link-inside.txt",
  "/link-outside.txt",
  "/link-hidden.txt",
  "/folder.txt",
];

let dir: string;
let files: StaticFiles;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tsweb-files-"));
  for (const [name, text] of Object.entries(CONTENT)) {
    const file = join(dir, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    utimesSync(file, CHANGED, CHANGED);
  }
  files = createStaticFiles(LISTED, { dir, log: recordedLog().log, hashed: [APP] });
});
afterAll(() => rmSync(dir, { recursive: true }));

function handle(path: string, headers: Record<string, string> = {}, method = "GET") {
  return files.handle(new FetchInboundRequest(new Request("http://shop.example/", { method, headers })), path);
}

async function respond(path: string, headers: Record<string, string> = {}): Promise<HandlerResponse> {
  const response = await handle(path, headers);
  if (!response) throw new Error(`No file at ${path}`);
  return response;
}

async function textOf({ body }: HandlerResponse): Promise<string> {
  return new Response(isPushedBody(body) ? body.toStream() : body).text();
}

const APP = "/assets/app-1a2b3c.js";

describe("createStaticFiles", () => {
  it.each(["POST", "PUT", "DELETE", "OPTIONS"])("decides synchronously that %s is for no file", (method) => {
    expect(handle(APP, {}, method)).toBeNull();
  });

  it.each(["/", "/unlisted.txt", "/.env", "/assets/app-1a2b3c.js.br", "/assets/../a b.txt", "/A B.TXT"])(
    "decides synchronously that %s is no file of the build",
    (path) => {
      expect(handle(path)).toBeNull();
    },
  );

  it("lets browsers cache only files whose names the build has hashed, also below /assets/", async () => {
    expect((await respond(APP)).headers?.["cache-control"]).toBe("max-age=31536000, immutable");
    for (const path of ["/assets/logo.svg", "/photo.jpg"]) {
      expect((await respond(path)).headers?.["cache-control"]).toBe("no-cache");
    }
  });

  it("returns null for a file that was deleted after the build", async () => {
    expect(await handle("/deleted.txt")).toBeNull();
  });

  it("follows a symbolic link to a public file of the folder only [REQUEST-53]", async () => {
    const outside = mkdtempSync(join(tmpdir(), "tsweb-outside-"));
    writeFileSync(join(outside, "secret.txt"), "secret");
    symlinkSync(join(dir, "photo.jpg"), join(dir, "link-inside.txt"));
    symlinkSync(join(outside, "secret.txt"), join(dir, "link-outside.txt"));
    symlinkSync(join(dir, ".env"), join(dir, "link-hidden.txt"));
    mkdirSync(join(dir, "folder.txt"));
    expect(await textOf(await respond("/link-inside.txt"))).toBe("jpeg");
    for (const path of ["/link-outside.txt", "/link-hidden.txt", "/folder.txt"]) expect(await handle(path)).toBeNull();
    rmSync(outside, { recursive: true });
  });

  it("sends the version of a file whose headers it has sent, also when the file is replaced meanwhile", async () => {
    writeFileSync(join(dir, "replaced.txt"), "old");
    const response = await respond("/replaced.txt");
    writeFileSync(join(dir, "new.txt"), "a longer text");
    renameSync(join(dir, "new.txt"), join(dir, "replaced.txt"));
    expect(response.headers?.["content-length"]).toBe("3");
    expect(await textOf(response)).toBe("old");
  });

  // Only Linux lists the open files of a process, in /proc. CI runs on Linux, so the test always runs there.
  it.runIf(process.platform === "linux")("leaves no file open", async () => {
    writeFileSync(join(dir, "replaced.txt"), "");
    const openFiles = () => readdirSync("/proc/self/fd").length;
    const before = openFiles();
    for (let i = 0; i < 20; i++) {
      expect((await handle(APP, {}, "HEAD"))?.body).toBeNull();
      await respond(APP, { "if-none-match": "*" });
      await respond(APP, { range: "bytes=10-" });
      await textOf(await respond("/replaced.txt"));
      const { body } = await respond("/photo.jpg");
      await (isPushedBody(body) ? body.toStream().cancel() : undefined);
    }
    await expect.poll(openFiles).toBeLessThan(before + 5);
  });

  it("decodes the path, and serves no hidden folder except .well-known", async () => {
    expect(await textOf(await respond("/a%20b.txt"))).toBe("spaces");
    expect(await textOf(await respond("/.well-known/security.txt"))).toBe("Contact: us");
  });

  it.each(["/assets%2Flogo.svg", "/assets%2flogo.svg", "/.well-known%2Fsecurity.txt"])(
    "has one path: an encoded slash leads to none, as in %s",
    (path) => {
      expect(handle(path)).toBeNull();
      expect(files.has(new FetchInboundRequest(new Request("http://shop.example/")), path)).toBe(false);
    },
  );

  it("sends type, length, validators and the caching of a hashed name", async () => {
    const mtime = Math.trunc(statSync(join(dir, APP)).mtimeMs).toString(16);
    expect(await respond(APP)).toMatchObject({
      status: 200,
      headers: {
        "content-type": "text/javascript; charset=utf-8",
        "content-length": "10",
        "accept-ranges": "bytes",
        "last-modified": "Fri, 02 Jan 2026 03:04:05 GMT",
        etag: `W/"a-${mtime}"`,
        vary: "Accept-Encoding",
        "cache-control": "max-age=31536000, immutable",
      },
    });
    expect((await respond("/photo.jpg")).headers).not.toHaveProperty("vary");
  });

  it.each([
    ["br", "br"],
    ["gzip, br", "br"],
    ["gzip;q=0.5, br;q=0", "gzip"],
    ["br;q=0.5, gzip", "gzip"],
    ["*", "br"],
    ["*;q=0, GZIP", "gzip"],
    ["identity", undefined],
    ["br;q=0,gzip;q=0", undefined],
    ["", undefined],
  ])("chooses for Accept-Encoding %j the coding %s", async (accepted, coding) => {
    const response = await respond(APP, { "accept-encoding": accepted });
    expect(response.headers?.["content-encoding"]).toBe(coding);
    expect(await textOf(response)).toBe(coding ?? "0123456789");
  });

  it("sends no compressed copy, and no Vary, if that is switched off", async () => {
    const uncompressed = createStaticFiles(LISTED, { dir, log: recordedLog().log, isCompressed: false });
    const request = new Request("http://shop.example/", { headers: { "accept-encoding": "br" } });
    const response = await uncompressed.handle(new FetchInboundRequest(request), APP);
    expect(response?.headers).not.toHaveProperty("content-encoding");
    expect(response?.headers).not.toHaveProperty("vary");
    expect(await textOf(response as HandlerResponse)).toBe("0123456789");
  });

  it("sends a compressed copy without ranges, and with a tag of its own", async () => {
    const { headers } = await respond(APP, { "accept-encoding": "br" });
    expect(headers).not.toHaveProperty("accept-ranges");
    expect(headers?.etag).toMatch(/^W\/"2-[0-9a-f]+-br"$/);
  });
});

describe("a conditional request", () => {
  it("gets 304 without content headers when its tag or its date is current", async () => {
    const { etag = "" } = (await respond(APP)).headers ?? {};
    for (const value of [etag, etag.slice(2), `"other", ${etag}`, "*"]) {
      const response = await respond(APP, { "if-none-match": value });
      expect(response).toMatchObject({ status: 304, body: null, headers: { etag, vary: "Accept-Encoding" } });
      expect(response.headers).not.toHaveProperty("content-length");
    }
    expect((await respond(APP, { "if-modified-since": "Fri, 02 Jan 2026 03:04:05 GMT" })).status).toBe(304);
  });

  it("gets the file when it has changed, and the tag decides over the date", async () => {
    const future = { "if-modified-since": "Sat, 02 Jan 2027 03:04:05 GMT" };
    expect((await respond(APP, { "if-none-match": '"other"', ...future })).status).toBe(200);
    expect((await respond(APP, { "if-modified-since": "Fri, 02 Jan 2026 03:04:04 GMT" })).status).toBe(200);
    expect((await respond(APP, { "if-modified-since": "yesterday" })).status).toBe(200);
  });
});

describe("a range request", () => {
  it.each([
    ["bytes=0-3", "bytes 0-3/10", "0123"],
    ["bytes=7-", "bytes 7-9/10", "789"],
    ["bytes=-2", "bytes 8-9/10", "89"],
    ["bytes=-20", "bytes 0-9/10", "0123456789"],
    ["bytes=9-20", "bytes 9-9/10", "9"],
  ])("gets for %s the part %s, uncompressed", async (range, part, text) => {
    const response = await respond(APP, { range, "accept-encoding": "br" });
    expect(response).toMatchObject({ status: 206, headers: { "content-range": part } });
    expect(response.headers?.["content-length"]).toBe(String(text.length));
    expect(await textOf(response)).toBe(text);
  });

  it.each(["bytes=10-", "bytes=-0"])("gets 416 for %s, which is not in the file", async (range) => {
    expect(await respond(APP, { range })).toMatchObject({
      status: 416,
      headers: { "content-range": "bytes */10", "cache-control": "no-cache" },
      body: null,
    });
  });

  it.each(["bytes=3-1", "bytes=a-b", "bytes=-", "lines=0-3", "bytes=0-1,4-5"])(
    "gets the whole file for %s",
    async (range) => {
      const response = await respond(APP, { range });
      expect([response.status, await textOf(response)]).toEqual([200, "0123456789"]);
    },
  );

  it("gets the part only of the version that If-Range names", async () => {
    const range = "bytes=0-3";
    const statusFor = async (ifRange: string) => (await respond(APP, { range, "if-range": ifRange })).status;
    expect(await statusFor("Fri, 02 Jan 2026 03:04:05 GMT")).toBe(206);
    expect(await statusFor("Thu, 01 Jan 2026 03:04:05 GMT")).toBe(200);
    expect(await statusFor((await respond(APP)).headers?.etag ?? "")).toBe(200); // a weak tag never matches
  });
});

it("files whose folder is missing get no response, and the log has the fix once", async () => {
  const { log, lines } = recordedLog();
  const moved = createStaticFiles(["/a.txt"], { dir: join(dir, "nowhere"), log });
  const inbound = new FetchInboundRequest(new Request("http://shop.example/a.txt"));
  expect(await moved.handle(inbound, "/a.txt")).toBeNull();
  expect(await moved.handle(inbound, "/a.txt")).toBeNull();
  expect(lines).toHaveLength(1);
  expect(JSON.stringify(lines)).toContain("do not bundle it");
});
