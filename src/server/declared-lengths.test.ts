/** Bodies that are longer than their declared length, or that a host has decoded: every byte is counted on every host. */
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { listen } from "#test/listen";
import { type NodeHandler, node } from "../adapters/index.ts";

const MIB = 1024 * 1024;
const JSON_HEADERS = { "content-type": "application/json" };
const FORM_HEADERS = { "content-type": "application/x-www-form-urlencoded", origin: "http://shop.example" };
const MULTIPART_HEADERS = { ...FORM_HEADERS, "content-type": "multipart/form-data; boundary=b" };

/** The characters and the bytes that functions and routes have received. */
let received = 0;

function receive(length: number): void {
  received += length;
}

function createApp() {
  const app = createTestApp(
    {
      save: compiledServer("save", (text: string) => receive(text.length), { params: { text: "any" } }),
      store: compiledServer("store", (file: File) => receive(file.size), {
        params: { file: { type: "any", files: "one" } },
      }),
      home: compiledPage("/", () => "home"),
      hook: compiledRoute("POST /hook", async (request) => {
        receive((await request.text()).length);
        return new Response("received");
      }),
      big: compiledRoute("POST /big", { max_body: 1.5 * MIB }, async (request) => {
        receive((await request.text()).length);
        return new Response("received");
      }),
    },
    { rate: false },
  );
  received = 0;
  return app;
}

const text = "x".repeat(2 * MIB);
const part = (head: string, body: string) =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n--b--\r\n`;

const BODIES = [
  ["a call", "/__web/rpc/save", JSON_HEADERS, `{"args":{"text":"${text}"}}`],
  ["a form of a script", "/__web/form/save", FORM_HEADERS, `text=${text}`],
  ["a form without script", "/?__form=save", FORM_HEADERS, `text=${text}`],
  ["an upload", "/__web/form/store", MULTIPART_HEADERS, part('name="file"; filename="a"', text)],
  ["a route", "/hook", {}, text],
  ["a route with a max_body of its own", "/big", {}, text],
] as const;

describe.each(BODIES)("the body of %s that is longer than its declared length", (_, path, headers, body) => {
  it.each(["10", "0", String(MIB)])(
    "is refused with 413 above the maximum, with a Content-Length of %s",
    async (length) => {
      const app = createApp();
      const all = { ...headers, "content-length": length };
      const { status } = await app.fetch(
        new Request(`http://shop.example${path}`, { method: "POST", body, headers: all }),
      );
      expect([status, received]).toEqual([413, 0]);
    },
  );
});

it("counts what exceeds the declared length of a body as bytes in flight of its client", async () => {
  let held = 0;
  const wait = compiledServer("wait", (_text: string) => new Promise(() => held++), { params: { _text: "any" } });
  const app = createTestApp({ wait }, { rate: false });
  const send = () => {
    const body = `{"args":{"_text":"${"x".repeat(MIB - 100)}"}}`;
    const headers = { ...JSON_HEADERS, "content-length": "10" };
    return app.fetch(new Request("http://shop.example/__web/rpc/wait", { method: "POST", body, headers }));
  };
  for (let sent = 0; sent < 16; sent++) void send();
  await vi.waitFor(() => expect(held).toBe(16), 10_000);
  expect((await send()).status).toBe(429);
});

it("is refused with an error body by calls, forms and routes, and with a text by pages and files", async () => {
  const app = createApp();
  const shapes = async (init: RequestInit, paths: readonly string[]) => {
    const shapeOf = async (path: string) => {
      const { status, headers } = await app.fetch(new Request(`http://shop.example${path}`, init));
      return `${path} ${status} ${headers.get("content-type")}`;
    };
    return Promise.all(paths.map(shapeOf));
  };
  const json = "application/json";
  const plain = "text/plain; charset=utf-8";
  for (const length of [String(2 * MIB), "10"]) {
    const init = { method: "POST", body: text, headers: { ...JSON_HEADERS, "content-length": length } };
    expect(await shapes(init, ["/__web/rpc/save", "/hook", "/big"])).toEqual([
      `/__web/rpc/save 413 ${json}`,
      `/hook 413 ${json}`,
      `/big 413 ${json}`,
    ]);
  }
  const tooLong = { method: "POST", body: text, headers: { "content-length": String(2 * MIB) } };
  expect(await shapes(tooLong, ["/", "/nothing"])).toEqual([`/ 413 ${plain}`, `/nothing 413 ${plain}`]);
  expect(await shapes({ method: "PUT" }, ["/", "/hook", "/__web/rpc/save", "/__web/form/save"])).toEqual([
    `/ 405 ${plain}`,
    `/hook 405 ${plain}`,
    `/__web/rpc/save 405 ${json}`,
    `/__web/form/save 405 ${json}`,
  ]);
});

describe("a body with a Content-Encoding", () => {
  it.each(["gzip", "br", "identity, gzip", "utf-8"])("is refused with 415: %s", async (encoding) => {
    const app = createApp();
    for (const [, path, headers] of BODIES.slice(0, 4)) {
      const all = { ...headers, "content-encoding": encoding };
      const init = { method: "POST", body: gzipSync("text=a"), headers: all };
      const response = await app.fetch(new Request(`http://shop.example${path}`, init));
      expect([path, response.status, response.headers.get("accept-encoding")]).toEqual([path, 415, "identity"]);
      expect(response.headers.get("connection")).toBe("close");
    }
    const poll = new Request("http://shop.example/__web/poll?feed=x", { headers: { "content-encoding": encoding } });
    expect((await app.fetch(poll)).status).toBe(415);
    expect(received).toBe(0);
  });

  it("is decided in linear time, whatever the header contains", async () => {
    const blanks = "\xa0".repeat(100_000);
    for (const encoding of [blanks, `${blanks}x`, `identity${blanks}x`]) {
      const headers = { ...JSON_HEADERS, "content-encoding": encoding };
      const request = new Request("http://shop.example/__web/rpc/save", { method: "POST", headers, body: "{}" });
      expect((await createApp().fetch(request)).status).toBe(encoding === blanks ? 422 : 415);
    }
  });

  it("is accepted if it is identity, and passed on as it was sent to a route", async () => {
    const app = createApp();
    const call = {
      method: "POST",
      body: '{"args":{"text":"a"}}',
      headers: { ...JSON_HEADERS, "content-encoding": "Identity" },
    };
    expect((await app.fetch(new Request("http://shop.example/__web/rpc/save", call))).status).toBe(200);
    let passedOn = "";
    const hook = compiledRoute("POST /hook", async (request) => {
      passedOn = gunzipSync(await request.arrayBuffer()).toString();
      return new Response("received");
    });
    const init = { method: "POST", body: gzipSync("the text"), headers: { "content-encoding": "gzip" } };
    await createTestApp({ hook }).fetch(new Request("http://shop.example/hook", init));
    expect(passedOn).toBe("the text");
  });
});

describe("behind a body parser that decodes, a body", () => {
  /** Does what the JSON parser of Express does: decodes, parses and keeps the result as `request.body`. */
  const withParser =
    (next: NodeHandler): NodeHandler =>
    async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      const bytes =
        request.headers["content-encoding"] === "gzip" ? gunzipSync(Buffer.concat(parts)) : Buffer.concat(parts);
      next(Object.assign(request, { body: JSON.parse(bytes.toString()) }), response);
    };

  it.each([
    [1_000, 200],
    [2 * MIB, 413],
  ])(
    "of %i bytes has the status %i for calls and routes, whatever the length of what was sent",
    async (length, status) => {
      const server = await listen(withParser(node(createApp())));
      const body = gzipSync(JSON.stringify({ args: { text: "x".repeat(length) } }));
      for (const path of ["/__web/rpc/save", "/hook"]) {
        const headers = { ...JSON_HEADERS, "content-encoding": "gzip" };
        const response = await fetch(server.address + path, { method: "POST", body, headers });
        expect([path, response.status]).toEqual([path, status]);
      }
      await server.close();
    },
  );
});
