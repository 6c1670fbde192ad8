/**
 * The wire: mounted in Express and in Fastify, alone and below a prefix, before and after a parser
 * has read the body.
 */
import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import express from "express";
import fastify from "fastify";
import { beforeEach, describe, it, vi } from "vitest";
import { type LocalServer, listen } from "#test/listen";
import { buildWireApp } from "#test/wire-app";
import { node } from "../../src/adapters/index.ts";
import type { App } from "../../src/app.ts";
import { calling, refusal, result, send } from "./wire/exchange.ts";
import { socketSite } from "./wire/index.ts";
import { wireTests } from "./wire.ts";

// What goes wrong on purpose is told to a person at a terminal.
beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

/** Tests an application behind what a framework makes of it. */
function mounted(
  name: string,
  mount: (app: App) => Promise<LocalServer>,
  base: string,
  before: ("parses" | "routes")[] = [],
) {
  wireTests(
    name,
    async () => {
      const built = await buildWireApp();
      const opened: { close(): unknown }[] = [];
      return {
        async open(variant) {
          const server = await mount(built.open(variant, base));
          const site = socketSite(server.address, base);
          opened.push(site, server);
          return site;
        },
        async close() {
          for (const each of opened) await each.close();
          built.site.remove();
        },
      };
    },
    before,
  );
}

/** Express's own type says less of its requests than it is: a listener of Node's. */
const listenWith = (handler: express.Express) => listen(handler as unknown as RequestListener);

async function listenFastify(server: ReturnType<typeof fastify>): Promise<LocalServer> {
  const address = await server.listen({ port: 0, host: "127.0.0.1" });
  return {
    address,
    async close() {
      server.server.closeAllConnections();
      await server.close();
    },
  };
}

mounted("in Express, at the root", (app) => listenWith(express().use(node(app))), "");

mounted(
  "in Express, below a prefix, after express.json()",
  (app) =>
    listenWith(
      express()
        .use(express.json({ limit: "2mb" }))
        .use("/shop", node(app)),
    ),
  "/shop",
  ["parses"],
);

mounted(
  "in Fastify",
  (app) => {
    const server = fastify();
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", (_request, _payload, done) => done(null));
    const handler = node(app);
    server.all("/*", (request, reply) => {
      reply.hijack();
      handler(request.raw, reply.raw);
    });
    return listenFastify(server);
  },
  "",
  ["routes"],
);

describe("a body that was read before us", () => {
  it("is what Fastify's parser made of it, where it is handed on", async () => {
    const built = await buildWireApp();
    const server = fastify();
    const handler = node(built.open("plain"));
    server.all("/*", (request, reply) => {
      reply.hijack();
      handler(Object.assign(request.raw, { body: request.body }), reply.raw);
    });
    await using(await listenFastify(server), built.site, async (site) => {
      assert.equal((await result(site, "add", { a: "1", b: 2 })).value, 3);
      const text = { method: "POST", path: "/hooks/echo", body: "é", headers: { "content-type": "text/plain" } };
      assert.deepEqual(JSON.parse((await send(site, text)).text), { method: "POST", text: "é" });
    });
  });

  it("is text, bytes or JSON in Express; a form that was taken apart is told to be gone", async () => {
    const built = await buildWireApp();
    const server = express()
      .use(express.json({ strict: false }), express.text(), express.raw(), express.urlencoded())
      .use(node(built.open("plain")));
    await using(await listenWith(server), built.site, async (site) => {
      const echo = async (type: string, body: string) => {
        const answer = await send(site, {
          method: "POST",
          path: "/hooks/echo",
          body,
          headers: { "content-type": type },
        });
        return answer.status === 201 ? JSON.parse(answer.text).text : answer.status;
      };
      assert.equal(await echo("text/plain", "é"), "é");
      assert.equal(await echo("application/octet-stream", "é"), "é");
      assert.equal(await echo("application/json", '{"a": [1]}'), '{"a":[1]}');
      assert.equal(await echo("application/json", "null"), "null");
      assert.equal(await echo("application/x-www-form-urlencoded", "a=1"), 500);
      const asked = calling("echo");
      for (const body of ["1", "null", '"args"', "[]"]) {
        await refusal(site, { ...asked, body }, { status: 422, code: "validation_error" });
      }
    });
  });

  it("that was not handed on is an answer at once, and a word in the log", async () => {
    const built = await buildWireApp();
    const server = fastify();
    const handler = node(built.open("plain"));
    server.all("/*", (request, reply) => {
      reply.hijack();
      handler(request.raw, reply.raw);
    });
    await using(await listenFastify(server), built.site, async (site) => {
      await refusal(site, calling("add", { a: 1 }), { status: 500, code: "internal" });
      assert.match(String(vi.mocked(console.error).mock.calls), /The request's body was read before/);
    });
  });
});

async function using(
  server: LocalServer,
  files: { remove(): void },
  work: (site: ReturnType<typeof socketSite>) => Promise<void>,
): Promise<void> {
  const site = socketSite(server.address);
  try {
    await work(site);
  } finally {
    site.close();
    await server.close();
    files.remove();
  }
}
