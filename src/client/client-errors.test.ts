import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { collect } from "#test/collect";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";
import { type LocalServer, listen } from "#test/listen";
import { type Functions, rejectionOf, Shop } from "#test/shop";
import { client, RPCError } from "./index.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
beforeEach(() => shop.reset());
afterAll(() => shop.close());

/** Returns a client of an application with the functions `greet` and `order`. */
function clientOf({ isDev }: { readonly isDev: boolean }) {
  const greet = compiledServer("greet", (name: string) => `Hello ${name}`, { params: { name: "any" } });
  const order = compiledServer("order", () => null);
  const app = createTestApp({ greet, order });
  if (isDev) setDevelopment(app);
  type Misspelled = Record<"gret" | "ordre" | "remove", typeof greet>;
  return client<Misspelled>("http://localhost", { fetch: (url, init) => app.fetch(new Request(url, init)) });
}

describe("an error of a client's call", () => {
  it("names the function that was probably meant, in development only", async () => {
    const api = clientOf({ isDev: true });
    expect(await rejectionOf(api.gret("Ada"))).toMatchObject({
      code: "not_found",
      message: "gret: there is no server function with this name. Did you mean greet?",
    });
    expect(await rejectionOf(api.ordre.named({ name: "Ada" }))).toMatchObject({
      code: "not_found",
      message: "There is no server function with this name. Did you mean order?",
    });
    expect(await rejectionOf(api.remove("Ada"))).toMatchObject({
      message: "remove: there is no server function with this name",
    });
    const built = clientOf({ isDev: false });
    expect(await rejectionOf(built.gret("Ada"))).toMatchObject({
      message: "gret: there is no server function with this name",
    });
    const error = await rejectionOf(built.ordre.named({ name: "Ada" }));
    expect(error).toMatchObject({ message: "There is no server function with this name.", details: {} });
  });

  it("has the line of the call in its stack, so that a test names it", async () => {
    const api = clientOf({ isDev: true });
    const lineOf = ({ stack = "" }: Error) => /client-errors\.test\.ts:\d+/.exec(stack)?.[0];
    const here = lineOf(new Error("the line above the calls"));
    const errors = [await rejectionOf(api.gret("Ada")), await rejectionOf(api.remove.named({ name: "Ada" }))];
    const line = Number(here?.split(":")[1]);
    expect(errors.map((error) => error instanceof Error && lineOf(error))).toEqual([
      `client-errors.test.ts:${line + 1}`,
      `client-errors.test.ts:${line + 1}`,
    ]);
  });

  it("has the code, message and details of the function's error", async () => {
    const error = await rejectionOf(client<Functions>(shop.address).fail());
    expect(error).toBeInstanceOf(RPCError);
    expect(error).toMatchObject({ code: "conflict", message: "Taken.", details: { parameter: "email" } });
  });

  it("names the invalid parameter", async () => {
    const error = await rejectionOf(client<Functions>(shop.address).add.named({ a: "one" }));
    expect(error).toMatchObject({ code: "validation_error", details: { parameter: "a", expected: "int" } });
  });

  it("is internal with a cause, if the server is unreachable", async () => {
    const closed = await listen(() => undefined);
    await closed.close();
    const api = client<Functions>(closed.address);
    for (const call of [() => api.whoami(), () => api.add(1)]) {
      const error = await rejectionOf(call());
      expect(error).toBeInstanceOf(RPCError);
      expect(error).toMatchObject({ code: "internal", cause: expect.any(TypeError) });
    }
  });

  it("of the request for parameter names is not cached for the next call", async () => {
    const down = vi.fn<typeof fetch>().mockRejectedValueOnce(new TypeError("down")).mockImplementation(fetch);
    const api = client<Functions>(shop.address, { fetch: down });
    expect(await rejectionOf(api.add(1))).toMatchObject({ code: "internal" });
    expect(await api.add(1)).toBe(11);
  });

  describe("from a proxy or another server", () => {
    let proxy: LocalServer;
    let respond: (request: IncomingMessage, response: ServerResponse) => void;
    beforeAll(async () => {
      proxy = await listen((request, response) => respond(request, response));
    });
    afterAll(() => proxy.close());

    it.each([
      [401, "unauthenticated"],
      [403, "forbidden"],
      [404, "not_found"],
      [413, "validation_error"],
      [429, "rate_limited"],
      [502, "internal"],
      [504, "timeout"],
      [200, "internal"],
    ])("has the code of its status %i", async (status, code) => {
      respond = (_, response) => response.writeHead(status, { "content-type": "text/html" }).end("<h1>No</h1>");
      const api = client<Functions>(proxy.address);
      for (const call of [() => api.whoami(), () => api.add(1)]) {
        const error = await rejectionOf(call());
        expect(error).toBeInstanceOf(RPCError);
        expect(error).toMatchObject({ code, message: expect.stringContaining(String(status)) });
      }
      expect(await rejectionOf(collect(api.countdown.named({ from: 1 })))).toMatchObject({ code });
    });

    it("is thrown for a redirect, which is not followed, because it could send arguments to another site", async () => {
      const bodies: string[] = [];
      respond = (request, response) => {
        bodies.push(request.url ?? "");
        response.writeHead(307, { location: "/elsewhere" }).end();
      };
      const error = await rejectionOf(client<Functions>(proxy.address).login.named({ name: "ada" }));
      expect(error).toMatchObject({ code: "internal", message: expect.stringContaining("307") });
      expect(bodies).toEqual(["/__web/rpc/login"]);
    });

    it("is not_found for a 405 response without parameter names", async () => {
      respond = (_, response) => response.writeHead(405).end("No");
      expect(await rejectionOf(client<Functions>(proxy.address).add(1))).toMatchObject({ code: "not_found" });
    });
  });
});
