/** What a route receives as its request: the URL that the client has used, and bodies that cannot be read. */
import { request as sendRequest } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { compiledRoute, createTestApp, getPage } from "#test/compiled-app";
import { listen } from "#test/listen";
import { node } from "../adapters/index.ts";
import type { RouteFunction } from "./route.ts";

const SECRET = { WEB_AUTH_SECRET: "5a".repeat(32) };

let log: MockInstance<typeof console.error>;
beforeEach(() => {
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

const HOST = "connection.example";

/** A request to a server of the test, whatever host it names. */
interface Sent {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

/** Returns the body of the response to a request. */
function readFrom(address: string, { method, headers, body }: Sent): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = sendRequest(`${address}/a?b=c`, { method, headers });
    sent.on("error", reject).on("response", (response) => resolve(text(response)));
    sent.end(body ?? undefined);
  });
}

/** Returns an application with one route, for GET or POST. */
function appOf(method: "GET" | "POST", fn: RouteFunction<"GET /a">, env: Record<string, string> = {}) {
  return createTestApp({ only: compiledRoute(`${method} /a`, fn) }, { env: { ...SECRET, ...env } });
}

describe("the URL of the request of a route", () => {
  const forwarded = { "x-forwarded-proto": "http, https", "x-forwarded-host": "evil.example, shop.example" };

  it.each<[Record<string, string>, Record<string, string>, string]>([
    [{}, forwarded, "http://connection.example/a?b=c"],
    [{ WEB_TRUST_PROXY: "1" }, forwarded, "https://shop.example/a?b=c"],
    [{ WEB_TRUST_PROXY: "1" }, {}, "http://connection.example/a?b=c"],
    [{ WEB_TRUST_PROXY: "1" }, { "x-forwarded-proto": "javascript" }, "http://connection.example/a?b=c"],
    [{ WEB_TRUST_PROXY: "1" }, { "x-forwarded-host": "a b" }, "http://connection.example/a?b=c"],
    [{ WEB_ORIGIN: "https://one.example" }, forwarded, "https://one.example/a?b=c"],
    [
      { WEB_ORIGIN: "https://one.example, https://shop.example", WEB_TRUST_PROXY: "1" },
      forwarded,
      "https://shop.example/a?b=c",
    ],
    [{ WEB_ORIGIN: "https://one.example, http://connection.example" }, {}, "http://connection.example/a?b=c"],
  ])("is of the origin that the client has used, with %j and %j", async (env, headers, expected) => {
    for (const method of ["GET", "POST"] as const) {
      const show: RouteFunction<"GET /a"> = async (request) => new Response(`${request.url} ${await request.text()}`);
      const body = method === "POST" ? "sent" : null;
      const app = appOf(method, show, env);
      const init = { method, body, headers: { ...headers, "x-forwarded-for": "192.0.2.1" } };
      const fetched = await app.fetch(new Request(`http://${HOST}/a?b=c`, init));
      expect(await fetched.text()).toBe(`${expected} ${body ?? ""}`);
      const server = await listen(node(app));
      try {
        const response = await readFrom(server.address, { method, headers: { ...init.headers, host: HOST }, body });
        expect(response).toBe(`${expected} ${body ?? ""}`);
      } finally {
        await server.close();
      }
    }
  });

  it("keeps the body within its limit, and the signal", async () => {
    const show: RouteFunction<"GET /a"> = async (request) =>
      Response.json([request.signal.aborted, (await request.text()).length]);
    const app = appOf("POST", show, { WEB_ORIGIN: "https://one.example" });
    const send = (length: number) => getPage(app, "/a", { method: "POST", body: "x".repeat(length) });
    expect(await (await send(1_000_000)).json()).toEqual([false, 1_000_000]);
    expect((await send(2_000_000)).status).toBe(413);
  });
});

describe("a route that reads a malformed body", () => {
  const FORM = "multipart/form-data; boundary=b";
  const GZIP = { "content-encoding": "gzip" };
  const json: RouteFunction<"GET /a"> = async (request) => Response.json(await request.json());
  const formData: RouteFunction<"GET /a"> = async (request) => Response.json([...(await request.formData()).keys()]);

  it.each<[string, RouteFunction<"GET /a">, string | undefined, string, number, RegExp]>([
    ["malformed JSON", json, "{", "application/json", 400, /^The request body is not JSON\.$/],
    ["an empty body in place of JSON", json, undefined, "application/json", 400, /^The request body is not JSON\.$/],
    ["malformed multipart", formData, "--b\r\nx", FORM, 400, /^The request body is not a form\.$/],
    ["JSON in place of a form", formData, "{}", "application/json", 415, /^The content type of a form must be/],
    ["JSON in gzip", json, "\u001f{", "application/json;gzip", 415, /^The body has the Content-Encoding "gzip"/],
    ["JSON from a copy of the request", async (r) => Response.json(await r.clone().json()), "{", "", 400, /not JSON/],
  ])("answers %s with a clear error, and logs no failure", async (_, fn, body, type, status, message) => {
    for (const max of [undefined, 2_000_000]) {
      const options = max === undefined ? {} : { max_body: max };
      const app = createTestApp({ only: compiledRoute("POST /a", options, fn) });
      const init = {
        method: "POST",
        body: body ?? null,
        headers: { "content-type": type, ...(/gzip/.test(type) && GZIP) },
      };
      const server = await listen(node(app));
      try {
        for (const response of [await getPage(app, "/a", init), await fetch(`${server.address}/a`, init)]) {
          expect(response.status).toBe(status);
          expect(await response.json()).toMatchObject({
            error: { code: "validation_error", message: expect.stringMatching(message) },
          });
        }
      } finally {
        await server.close();
      }
    }
    expect(String(log.mock.calls)).not.toMatch(/failed|threw/);
  });

  it("can handle the error itself, which is that of the platform", async () => {
    const own: RouteFunction<"GET /a"> = (request) =>
      request.json().then(
        () => new Response(),
        (error: unknown) => Response.json({ error: String(error) }, { status: 418 }),
      );
    const response = await getPage(appOf("POST", own), "/a", { method: "POST", body: "{" });
    expect([response.status, await response.json()]).toEqual([418, { error: expect.stringMatching(/^SyntaxError/) }]);
  });

  it.each<[string, RouteFunction<"GET /a">, RegExp]>([
    ["JSON of its own", async () => Response.json(JSON.parse("{")), /500/],
    ["a text of the request", async (request) => Response.json(JSON.parse(await request.text())), /500/],
    [
      "a form of the application",
      async () => Response.json([...(await new Response("x", { headers: { "content-type": FORM } }).formData())]),
      /422|500/, // since Node 22, the error has a cause
    ],
    [
      "a body for the second time",
      async (request) => {
        await request.text();
        return Response.json(await request.json());
      },
      /422/,
    ],
  ])("fails as usual if it cannot read %s", async (_, fn, status) => {
    const response = await getPage(appOf("POST", fn), "/a", { method: "POST", body: "{" });
    expect(String(response.status)).toMatch(status);
    expect(String(log.mock.calls)).toMatch(/^The route POST \/a (failed|threw)/);
  });
});
