import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, onTestFinished, vi } from "vitest";
import { compiledRoute, createTestApp, getPage } from "#test/compiled-app";
import { RPCError } from "../errors.ts";
import { request } from "../http/index.ts";
import { session } from "../session/index.ts";
import { type RouteFunction, type RoutePattern, route } from "./route.ts";

let log: MockInstance<typeof console.error>;
beforeEach(() => {
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

/** Sends a request to the only route of an application. */
function sendRequest<const P extends RoutePattern>(
  pattern: P,
  fn: RouteFunction<P>,
  path: string,
  init: RequestInit = {},
) {
  const [method = "GET"] = pattern.split(" ");
  return getPage(createTestApp({ only: compiledRoute(pattern, fn) }), path, { method, ...init });
}

describe("route()", () => {
  it("throws in a module that was not compiled, with instructions to compile it", () => {
    expect(() => route("GET /a", () => new Response())).toThrow("has not compiled");
  });

  it.each(["/a", "GET", "GET a", "GET //a", "get /a", "BREW /a", "HEAD /a", "GET  /a"])(
    "rejects the pattern %j",
    (pattern) => {
      expect(() => compiledRoute(pattern as RoutePattern, () => new Response())).toThrow("Invalid pattern");
    },
  );
});

describe("a route", () => {
  it("receives the request and the parameters of its path, and returns a Response", async () => {
    const response = await sendRequest(
      "POST /hooks/:kind",
      async (raw, { kind }) => Response.json({ kind, body: await raw.text(), id: request.id, user: session.user() }),
      "/hooks/a%20b",
      { body: "raw", headers: { "x-request-id": "r1" } },
    );
    expect(await response.json()).toEqual({ kind: "a b", body: "raw", id: "r1", user: null });
    expect(response.headers.get("x-request-id")).toBe("r1");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'self'");
    expect(response.headers.get("cache-control")).toBe("private, no-store");
  });

  it("can set headers of its own, also cookies beside those of the request context", async () => {
    const response = await sendRequest(
      "GET /a",
      () => {
        request.set_cookie("one", "1");
        const headers = new Headers({
          "cache-control": "private, max-age=60",
          "content-security-policy": "default-src 'none'",
        });
        headers.append("set-cookie", "two=2");
        headers.append("set-cookie", "three=3");
        return new Response("x", { headers });
      },
      "/a",
    );
    expect(response.headers.get("cache-control")).toBe("private, max-age=60");
    expect(response.headers.get("content-security-policy")).toBe("default-src 'none'");
    expect(response.headers.getSetCookie()).toEqual(["two=2", "three=3", "one=1; Path=/; HttpOnly; SameSite=Lax"]);
  });

  it("can return a response with immutable headers", async () => {
    const response = await sendRequest("GET /a", () => Response.redirect("http://other.example/", 302), "/a");
    expect([response.status, response.headers.get("location")]).toEqual([302, "http://other.example/"]);
    expect(response.headers.has("x-request-id")).toBe(true);
  });

  it("can return a response of the original class after a package has replaced globalThis.Response", async () => {
    const original = new Response("fetched", { status: 202 });
    vi.stubGlobal("Response", class extends Response {});
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(original).not.toBeInstanceOf(Response);
    const response = await sendRequest("GET /a", () => original, "/a");
    expect([response.status, await response.text()]).toEqual([202, "fetched"]);
  });

  it("can return the same response twice: no user gets the cookies of another [RESPONSE-11]", async () => {
    const shared = new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
    const app = createTestApp({
      only: compiledRoute("POST /in", () => {
        if (request.query.user) session.login(request.query.user);
        return shared;
      }),
    });
    const first = await getPage(app, "/in?user=ada", { method: "POST" });
    const second = await getPage(app, "/in", { method: "POST" });
    expect(first.headers.getSetCookie()).toEqual([expect.stringMatching(/^web_session=/)]);
    expect(second.headers.getSetCookie()).toEqual([]);
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  });

  it("responds to HEAD without the body", async () => {
    const response = await sendRequest("GET /a", () => new Response("body"), "/a", { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  it("cancels the body of a response to HEAD", async () => {
    const cancel = vi.fn();
    await sendRequest("GET /a", () => new Response(new ReadableStream({ cancel })), "/a", { method: "HEAD" });
    expect(cancel).toHaveBeenCalledOnce();
  });

  it.each([
    [new RPCError("conflict", "Taken."), 409, "conflict"],
    [new TypeError("No."), 422, "validation_error"],
    [new Error("the password is hunter2"), 500, "internal"],
  ] as const)("responds to an error with JSON: %s", async (error, status, code) => {
    const response = await sendRequest("GET /a", () => Promise.reject(error), "/a");
    const body = await response.text();
    expect(response.status).toBe(status);
    expect(JSON.parse(body)).toMatchObject({ error: { code } });
    expect(body).not.toContain("hunter2");
  });

  it("responds to rate_limited with Retry-After, if the details have retry_after", async () => {
    const error = new RPCError("rate_limited", "Too many.", { retry_after: 7 });
    const response = await sendRequest("GET /a", () => Promise.reject(error), "/a");
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "7"]);
  });

  it.each([undefined, null, "text", { status: 200 }])(
    "responds with 500 if it returns %j instead of a Response",
    async (result) => {
      const response = await sendRequest("GET /a", () => result as unknown as Response, "/a");
      expect(response.status).toBe(500);
      expect(String(log.mock.calls)).toContain("(src/routes.server.ts:1) returned");
    },
  );

  it("responds with 500 if it returns a response that cannot be sent", async () => {
    const upstream = createServer(({ url }, response) => {
      if (url === "/public") response.setHeader("cache-control", "public");
      response.end("x");
    }).listen(0, "127.0.0.1");
    await once(upstream, "listening");
    const { port } = upstream.address() as AddressInfo; // it listens on a port
    const consumed = (path: string) => async () => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      await response.text();
      return response; // fetched, with a body that was consumed
    };
    for (const run of [consumed("/"), consumed("/public"), () => Response.error()]) {
      const response = await sendRequest("GET /a", run, "/a");
      expect(response.status).toBe(500);
      expect(response.headers.has("x-request-id")).toBe(true);
    }
    expect(String(log.mock.calls)).toContain("A request failed");
    upstream.closeAllConnections();
    upstream.close();
  });

  it.each<Record<string, string>>([{}, { "content-length": "5, 5" }])(
    "reads at most 1 MiB of a body, regardless of the request's headers %j",
    async (headers) => {
      const chunk = new Uint8Array(65_536);
      let chunksLeft = 17;
      const body = new ReadableStream({
        pull: (controller) => (chunksLeft-- > 0 ? controller.enqueue(chunk) : controller.close()),
      });
      const init = { body, headers, duplex: "half" } as RequestInit;
      const response = await sendRequest("POST /a", async (raw) => new Response(await raw.text()), "/a", init);
      expect(response.status).toBe(413);
      expect(response.headers.get("connection")).toBe("close");
    },
  );
});

describe("a route whose client has disconnected", () => {
  it("responds with 400 and logs nothing for an abort, and handles other errors as usual", async () => {
    const disconnected = new AbortController();
    disconnected.abort();
    const waiting = async ({ signal }: Request) => {
      signal.throwIfAborted(); // as reading the rest of a body does
      return new Response();
    };
    expect((await sendRequest("POST /hook", waiting, "/hook", { signal: disconnected.signal })).status).toBe(400);
    expect(log).not.toHaveBeenCalled();
    const conflicting = () => {
      throw new RPCError("conflict", "Seen before.");
    };
    expect((await sendRequest("POST /hook", conflicting, "/hook", { signal: disconnected.signal })).status).toBe(409);
    expect((await sendRequest("POST /hook", () => Promise.reject(new Error("a bug")), "/hook")).status).toBe(500);
  });
});
