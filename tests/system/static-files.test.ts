/**
 * The static files of a built application, as browsers and proxies request them.
 */
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildSite } from "#test/built-site";
import { type RawResponse, sendRequest } from "#test/raw-http";
import { type RunningServer, startNode } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";

let site: TestProject;
let server: RunningServer;
let script: string;

beforeAll(async () => {
  site = await buildSite();
  server = await startNode(site.dir, ["dist/server.mjs"], { WEB_AUTH_SECRET: randomBytes(32).toString("hex") });
  const name = readdirSync(site.file("dist/client/assets")).find((file) => /^islands-.*\.js$/.test(file));
  script = `/assets/${name}`;
});

afterAll(async () => {
  await server?.stop();
  site?.remove();
});

const get = (path: string, ...headers: string[]): Promise<RawResponse> =>
  sendRequest(server.address, `GET ${path} HTTP/1.1`, "Host: localhost", ...headers);

const head = (path: string, ...headers: string[]): Promise<RawResponse> =>
  sendRequest(server.address, `HEAD ${path} HTTP/1.1`, "Host: localhost", ...headers);

describe("the caching of a file", () => {
  it("lasts a year if its name contains its hash", async () => {
    expect((await get(script)).headers["cache-control"]).toBe("max-age=31536000, immutable");
  });

  it("requires revalidation if it is from public/", async () => {
    for (const path of ["/robots.txt", "/assets/logo-1a2b3c4d.svg"]) {
      const { status, headers } = await get(path);
      expect([status, headers["cache-control"]], path).toEqual([200, "no-cache"]);
    }
  });

  it.each(["/robots.txt", "a script"])("avoids sending %s again if it has not changed", async (path) => {
    const url = path === "a script" ? script : path;
    const { headers } = await get(url);
    for (const method of [get, head]) {
      const repeated = await method(url, `If-None-Match: ${headers.etag}`);
      expect(repeated).toMatchObject({ status: 304, body: "" });
      for (const name of ["etag", "cache-control", "vary", "content-security-policy", "x-content-type-options"]) {
        expect(repeated.headers[name], name).toBe(headers[name]);
      }
      expect(repeated.headers["x-request-id"]).toMatch(/^[0-9a-f]{32}$/);
    }
    expect((await get(url, 'If-None-Match: "another"')).status).toBe(200);
    expect((await get(url, `If-Modified-Since: ${headers["last-modified"]}`)).status).toBe(304);
  });
});

describe("the compression of a file", () => {
  it.each([
    ["br", "br"],
    ["gzip", "gzip"],
    ["gzip, deflate, br", "br"],
    ["br;q=0, gzip", "gzip"],
    ["BR", "br"],
    ["*", "br"],
    ["identity", "none"],
    ["br;q=0, gzip;q=0", "none"],
    ["*;q=0", "none"],
    ["deflate, zstd", "none"],
    ["", "none"],
  ])("for Accept-Encoding %j is %s", async (accepted, encoding) => {
    const { status, headers } = await get(script, `Accept-Encoding: ${accepted}`);
    expect([status, headers["content-encoding"] ?? "none", headers.vary]).toEqual([200, encoding, "Accept-Encoding"]);
  });

  it("results in a different ETag for each coding", async () => {
    const tags = await Promise.all(
      ["br", "gzip", "identity"].map(async (coding) => (await get(script, `Accept-Encoding: ${coding}`)).headers.etag),
    );
    expect(new Set(tags).size).toBe(3);
  });

  it("is not applied to images, which are compressed already", async () => {
    const { headers } = await get("/photo.jpg", "Accept-Encoding: br, gzip");
    expect(headers).toMatchObject({ "content-type": "image/jpeg", "content-length": "5000" });
    expect(headers["content-encoding"]).toBeUndefined();
  });

  it("adds no URLs for the compressed copies", async () => {
    for (const end of [".br", ".gz"]) expect((await get(script + end)).status).toBe(404);
  });
});

describe("a range of a file", () => {
  it.each([
    ["bytes=0-3", "bytes 0-3/10000", "0123"],
    ["bytes=9995-", "bytes 9995-9999/10000", "56789"],
    ["bytes=-2", "bytes 9998-9999/10000", "89"],
    ["bytes=9999-20000", "bytes 9999-9999/10000", "9"],
  ])("is sent for %s", async (range, part, body) => {
    const response = await get("/digits.txt", `Range: ${range}`, "Accept-Encoding: br");
    expect(response).toMatchObject({ status: 206, body, headers: { "content-range": part } });
    expect(response.headers["content-encoding"]).toBeUndefined();
  });

  it("is rejected with 416 if it is not in the file", async () => {
    expect(await get("/digits.txt", "Range: bytes=10000-")).toMatchObject({
      status: 416,
      headers: { "content-range": "bytes */10000", "x-content-type-options": "nosniff" },
    });
  });

  it.each(["bytes=3-1", "bytes=a-b", "lines=0-3", "bytes=0-1,4-5"])("is ignored or rejected for %s", async (range) => {
    expect([200, 416]).toContain((await get("/digits.txt", `Range: ${range}`)).status);
  });
});

describe("the static files", () => {
  it("respond to HEAD with the headers of GET, and no body", async () => {
    const { status, headers, body } = await head("/digits.txt");
    expect([status, headers["content-length"], body]).toEqual([200, "10000", ""]);
  });

  it("can have names with spaces, commas and percent signs", async () => {
    expect(await get("/a%20name%2C%20100%25.txt")).toMatchObject({ status: 200, body: "unusual" });
  });

  it("include no hidden files, except in .well-known", async () => {
    expect((await get("/.htpasswd")).status).toBe(404);
    expect(await get("/.well-known/security.txt")).toMatchObject({ status: 200, body: "Contact: nobody" });
  });

  it("respond with 404 to other methods", async () => {
    expect((await sendRequest(server.address, "DELETE /robots.txt HTTP/1.1", "Host: localhost")).status).toBe(404);
  });

  it("do not include a file that was added after the build [REQUEST-52]", async () => {
    site.write("dist/client/late.txt", "late");
    expect((await get("/late.txt")).status).toBe(404);
  });
});
