import { Agent, get as httpGet, type IncomingMessage } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { callOverHttp, compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";
import { listen } from "#test/listen";
import { node } from "../adapters/index.ts";
import type { App, AppOptions } from "../app.ts";
import { session } from "../session/index.ts";
import { MIN_COMPRESSED_BYTES, type PageFacts, pageCoding } from "./page-compression.ts";

const FACTS: PageFacts = {
  bytes: 5000,
  acceptEncoding: "gzip, deflate, br, zstd",
  fetchSite: "cross-site",
  isPersonal: false,
  cacheControl: "private, no-store",
  etag: null,
  contentEncoding: null,
};
const codingOf = (facts: Partial<PageFacts>) => pageCoding({ ...FACTS, ...facts });

describe("a page is compressed", () => {
  it.each([
    [0, null],
    [MIN_COMPRESSED_BYTES - 1, null],
    [MIN_COMPRESSED_BYTES, "br"],
    [MIN_COMPRESSED_BYTES + 1, "br"],
  ])("from 1 KiB on: %i bytes as %s", (bytes, coding) => expect(codingOf({ bytes })).toBe(coding));

  it.each([
    ["gzip, deflate, br", "br"],
    ["gzip", "gzip"],
    ["GZIP", "gzip"],
    ["*", "br"],
    ["br;q=0, *", "gzip"],
    ["br;q=0.5, gzip;q=0.8", "gzip"],
    ["br;Q=0.5, gzip", "gzip"],
    ["br;q=0.8, gzip;q=0.8", "br"],
    ["gzip;q=0, br;q=0", null],
    ["*;q=0", null],
    ["identity;q=0", null],
    ["identity;q=0, gzip", "gzip"],
    ["identity", null],
    ["deflate, zstd", null],
    ["brotli, xgzip", null],
    ["br;q=abc", null],
    ["", null],
    [null, null],
  ])("in a coding that the client accepts: %j as %s", (acceptEncoding, coding) =>
    expect(codingOf({ acceptEncoding })).toBe(coding),
  );

  it.each([
    ["same-origin", "br"],
    ["none", "br"],
    ["same-site", null],
    ["cross-site", null],
    ["", null],
    ["Same-Origin", null],
    ["same-origin, cross-site", null],
    ["none, none", null],
    [null, null],
  ])(
    "if it is personal, only for a request that no other site has caused: %j as %s [RESPONSE-27]",
    (fetchSite, coding) => expect(codingOf({ isPersonal: true, fetchSite })).toBe(coding),
  );

  it.each(["same-origin", "none", "same-site", "cross-site", "other", null])(
    "if it is not personal, for a request of any site: %j",
    (fetchSite) => expect(codingOf({ fetchSite })).toBe("br"),
  );

  it.each([
    ["no-transform", null],
    ["public, no-transform", null],
    ["private,No-Transform , max-age=1", null],
    ["private, no-transformation", "br"],
    ["public, max-age=60", "br"],
    [null, "br"],
  ])("unless Cache-Control forbids it: %j as %s", (cacheControl, coding) =>
    expect(codingOf({ cacheControl })).toBe(coding),
  );

  it.each([
    ['"1a"', null],
    ['W/"1a"', "br"],
    [null, "br"],
  ])("unless its entity tag names its bytes: %j as %s", (etag, coding) => expect(codingOf({ etag })).toBe(coding));

  it.each(["gzip", "br", "identity"])("unless it has the content coding %j already", (contentEncoding) =>
    expect(codingOf({ contentEncoding })).toBeNull(),
  );
});

const TEXT = "A sentence that repeats. ".repeat(200);
const apps: App[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

const PRODUCTION = {
  WEB_ENV: "production",
  WEB_AUTH_SECRET: "8d4f6a1c0b97e35d2f18c46ab0937e5d1c8a2f7b6e40d39518fa7c2be6930d41",
};

function openApp(env: Record<string, string> = PRODUCTION, options: Partial<AppOptions> = {}): App {
  const app = createTestApp(
    {
      home: compiledPage("/", () => TEXT),
      short: compiledPage("/short", () => "Short"),
      login: compiledPage("/login", () => {
        session.login("u1");
        return TEXT;
      }),
      raw: compiledRoute("GET /raw", () => new Response(TEXT, { headers: { "content-type": "text/html" } })),
      text: compiledServer("text", () => TEXT),
    },
    { env, rate: false, ...options },
  );
  apps.push(app);
  return app;
}

const get = (app: App, path: string, headers: Record<string, string> = {}, method = "GET") =>
  app.fetch(new Request(`http://localhost${path}`, { method, headers: { "accept-encoding": "br, gzip", ...headers } }));

const headersOf = ({ headers }: Response) => ({
  coding: headers.get("content-encoding"),
  vary: headers.get("vary"),
});
const PLAIN = { coding: null, vary: null };
const VARIED = { coding: null, vary: "Accept-Encoding" };

describe("the response with a page", () => {
  it.each([
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
  ] as const)("contains all of it as %s, with Vary and the headers of every page", async (coding, decompress) => {
    const app = openApp();
    const response = await get(app, "/", { "accept-encoding": coding });
    expect(headersOf(response)).toEqual({ coding, vary: "Accept-Encoding" });
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toContain("default-src");
    const bytes = Buffer.from(await response.arrayBuffer());
    const plain = await (await get(app, "/", { "accept-encoding": "" })).text();
    expect(decompress(bytes).toString()).toBe(plain);
    expect(bytes.length).toBeLessThan(plain.length / 4);
  });

  it("has for HEAD the headers of GET, with its length", async () => {
    const app = openApp();
    const length = (await (await get(app, "/")).arrayBuffer()).byteLength;
    const response = await get(app, "/", {}, "HEAD");
    expect(headersOf(response)).toEqual({ coding: "br", vary: "Accept-Encoding" });
    expect(response.headers.get("content-length")).toBe(String(length));
    expect(await response.text()).toBe("");
  });

  it.each([
    ["a cookie", "/", { cookie: "theme=dark" }],
    ["a password", "/", { authorization: "Basic dTpw" }],
    ["a sign-in that it makes", "/login", {}],
  ])(
    "is compressed with %s only for requests of its own site [RESPONSE-28]",
    async (_, path, headers: Record<string, string>) => {
      const app = openApp();
      const codingFor = async (site: Record<string, string>) =>
        headersOf(await get(app, path, { ...headers, ...site }));
      expect(await codingFor({ "sec-fetch-site": "same-origin" })).toEqual({ coding: "br", vary: "Accept-Encoding" });
      expect(await codingFor({ "sec-fetch-site": "cross-site" })).toEqual(VARIED);
      expect(await codingFor({})).toEqual(VARIED);
    },
  );

  it.each<[Partial<AppOptions>, string]>([
    [{ headers: { vary: "Accept-Language" } }, "Accept-Language, Accept-Encoding"],
    [{ before: ({ set_header }) => set_header("Vary", "Accept-Language") }, "Accept-Language, Accept-Encoding"],
    [{ headers: { vary: "Accept-Language" }, before: ({ set_header }) => set_header("Vary", null) }, "Accept-Encoding"],
    [{ headers: { vary: "Accept, accept-encoding" } }, "Accept, accept-encoding"],
    [{ headers: { vary: "*" } }, "*"],
  ])("keeps what the application has set as Vary: %j as %s", async (options, vary) =>
    expect(headersOf(await get(openApp(PRODUCTION, options), "/"))).toEqual({ coding: "br", vary }),
  );

  it("is not compressed if the application has set a strong entity tag", async () => {
    expect(headersOf(await get(openApp(PRODUCTION, { headers: { etag: '"1"' } }), "/"))).toEqual(VARIED);
  });

  it("is not compressed if it is small", async () => {
    expect(headersOf(await get(openApp(), "/short"))).toEqual(VARIED);
  });

  it("is not compressed with WEB_COMPRESS=0, nor by the development server", async () => {
    expect(headersOf(await get(openApp({ ...PRODUCTION, WEB_COMPRESS: "0" }), "/"))).toEqual(PLAIN);
    const app = openApp();
    setDevelopment(app);
    expect(headersOf(await get(app, "/"))).toEqual(PLAIN);
  });
});

it("is sent by Node with its length, and the next response follows on the same connection", async () => {
  const server = await listen(node(openApp()));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<unknown>();
  for (const method of ["GET", "HEAD", "GET"]) {
    const message = await new Promise<IncomingMessage>((resolve) =>
      httpGet(server.address, { agent, method, headers: { "accept-encoding": "br" } }, resolve),
    );
    ports.add(message.socket.localPort);
    const bytes = Buffer.concat(await message.toArray());
    expect(message.headers).toMatchObject({
      "content-encoding": "br",
      "content-length": expect.stringMatching(/^\d+$/),
    });
    if (method === "HEAD") expect(bytes.length).toBe(0);
    else {
      expect(String(bytes.length)).toBe(message.headers["content-length"]);
      expect(brotliDecompressSync(bytes).toString()).toContain(TEXT);
    }
  }
  expect(ports.size).toBe(1);
  agent.destroy();
  await server.close();
});

describe("never compressed are", () => {
  it("results of calls: they contain secrets beside arguments [RESPONSE-29]", async () => {
    const headers = { "accept-encoding": "br", "sec-fetch-site": "same-origin" };
    const response = await callOverHttp(openApp(), "text", {}, { headers });
    expect(headersOf(response)).toEqual(PLAIN);
  });

  it("responses of routes", async () => expect(headersOf(await get(openApp(), "/raw"))).toEqual(PLAIN));
});
