import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
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

/** Asks the one route of an application. */
function ask<const P extends RoutePattern>(pattern: P, fn: RouteFunction<P>, path: string, init: RequestInit = {}) {
  const [method = "GET"] = pattern.split(" ");
  return getPage(createTestApp({ only: compiledRoute(pattern, fn) }), path, { method, ...init });
}

describe("route()", () => {
  it("that was not compiled throws, and says how to compile", () => {
    expect(() => route("GET /a", () => new Response())).toThrow("has not compiled");
  });

  it.each(["/a", "GET", "GET a", "GET //a", "get /a", "BREW /a", "HEAD /a", "GET  /a"])("refuses %j", (pattern) => {
    expect(() => compiledRoute(pattern as RoutePattern, () => new Response())).toThrow("Invalid pattern");
  });
});

describe("a route", () => {
  it("gets the request and the parameters of its path, and answers a Response", async () => {
    const response = await ask(
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

  it("may set its own headers, beside the cookies of the request", async () => {
    const response = await ask(
      "GET /a",
      () => {
        request.set_cookie("one", "1");
        const headers = new Headers({ "cache-control": "public", "content-security-policy": "default-src 'none'" });
        headers.append("set-cookie", "two=2");
        headers.append("set-cookie", "three=3");
        return new Response("x", { headers });
      },
      "/a",
    );
    expect(response.headers.get("cache-control")).toBe("public");
    expect(response.headers.get("content-security-policy")).toBe("default-src 'none'");
    expect(response.headers.getSetCookie()).toEqual(["two=2", "three=3", "one=1; Path=/; HttpOnly; SameSite=Lax"]);
  });

  it("may answer what takes no more headers", async () => {
    const response = await ask("GET /a", () => Response.redirect("http://other.example/", 302), "/a");
    expect([response.status, response.headers.get("location")]).toEqual([302, "http://other.example/"]);
    expect(response.headers.has("x-request-id")).toBe(true);
  });

  it("may give one answer again and again: no visitor gets what was set for another", async () => {
    const done = new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
    const app = createTestApp({
      only: compiledRoute("POST /in", () => {
        if (request.query.user) session.login(request.query.user);
        return done;
      }),
    });
    const first = await getPage(app, "/in?user=ada", { method: "POST" });
    const second = await getPage(app, "/in", { method: "POST" });
    expect(first.headers.getSetCookie()).toEqual([expect.stringMatching(/^web_session=/)]);
    expect(second.headers.getSetCookie()).toEqual([]);
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  });

  it("answers HEAD without the body", async () => {
    const response = await ask("GET /a", () => new Response("body"), "/a", { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  it("lets go of the body that HEAD is not sent", async () => {
    const cancel = vi.fn();
    await ask("GET /a", () => new Response(new ReadableStream({ cancel })), "/a", { method: "HEAD" });
    expect(cancel).toHaveBeenCalledOnce();
  });

  it.each([
    [new RPCError("conflict", "Taken."), 409, "conflict"],
    [new TypeError("No."), 422, "validation_error"],
    [new Error("the password is hunter2"), 500, "internal"],
  ] as const)("that throws %s answers in JSON", async (error, status, code) => {
    const response = await ask("GET /a", () => Promise.reject(error), "/a");
    const body = await response.text();
    expect(response.status).toBe(status);
    expect(JSON.parse(body)).toMatchObject({ error: { code } });
    expect(body).not.toContain("hunter2");
  });

  it.each([undefined, null, "text", { status: 200 }])(
    "that answers %j instead of a Response is at fault",
    async (answer) => {
      const response = await ask("GET /a", () => answer as unknown as Response, "/a");
      expect(response.status).toBe(500);
      expect(String(log.mock.calls)).toContain("Return a Response.");
    },
  );

  it("that answers what no server can send is answered for", async () => {
    const other = createServer(({ url }, answer) => {
      if (url === "/public") answer.setHeader("cache-control", "public");
      answer.end("x");
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo; // it listens on a port
    const spent = (path: string) => async () => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      await answer.text();
      return answer; // of another server, and read already
    };
    for (const answer of [spent("/"), spent("/public"), () => Response.error()]) {
      const response = await ask("GET /a", answer, "/a");
      expect(response.status).toBe(500);
      expect(response.headers.has("x-request-id")).toBe(true);
    }
    expect(String(log.mock.calls)).toContain("A request failed");
    other.closeAllConnections();
    other.close();
  });

  it.each<Record<string, string>>([{}, { "content-length": "5, 5" }])(
    "reads no more than 1 MiB, whatever the request says of its length (%j)",
    async (headers) => {
      const piece = new Uint8Array(65_536);
      let left = 17;
      const body = new ReadableStream({
        pull: (controller) => (left-- > 0 ? controller.enqueue(piece) : controller.close()),
      });
      const init = { body, headers, duplex: "half" } as RequestInit;
      const response = await ask("POST /a", async (raw) => new Response(await raw.text()), "/a", init);
      expect(response.status).toBe(413);
      expect(response.headers.get("connection")).toBe("close");
    },
  );
});

describe("a route whose caller has gone", () => {
  it("has not failed with what it waited for; what it throws by itself is told", async () => {
    const gone = new AbortController();
    gone.abort();
    const waiting = async ({ signal }: Request) => {
      signal.throwIfAborted(); // as reading the rest of a body does
      return new Response();
    };
    expect((await ask("POST /hook", waiting, "/hook", { signal: gone.signal })).status).toBe(400);
    expect(log).not.toHaveBeenCalled();
    const refusing = () => {
      throw new RPCError("conflict", "Seen before.");
    };
    expect((await ask("POST /hook", refusing, "/hook", { signal: gone.signal })).status).toBe(409);
    expect((await ask("POST /hook", () => Promise.reject(new Error("a slip")), "/hook")).status).toBe(500);
  });
});
