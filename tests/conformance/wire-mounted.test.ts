/**
 * The cases of the wire suite that a host can change, over an application that is mounted in Express and in Fastify: at the
 * root, below a prefix, and after a body parser.
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
import { callRequest, expectError, expectResult, send } from "./wire/exchange.ts";
import { type HostComponent, type SocketTarget, socketTarget } from "./wire/index.ts";
import { describeWire } from "./wire.ts";

// In development, errors are logged to the console. Many cases cause some.
beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

/** Declares the suite for an application that a framework serves. */
function describeMounted(
  name: string,
  mount: (app: App) => Promise<LocalServer>,
  base: string,
  hostComponents: readonly HostComponent[] = [],
) {
  describeWire(
    name,
    async () => {
      const built = await buildWireApp();
      const resources: { close(): unknown }[] = [];
      return {
        async open(variant) {
          const server = await mount(built.open(variant, base));
          const target = socketTarget(server.address, base);
          resources.push(target, server);
          return target;
        },
        async close() {
          for (const resource of resources) await resource.close();
          built.project.remove();
        },
      };
    },
    { hostComponents, hostDependent: true },
  );
}

/** An Express application is a request listener of Node. Its type declares a narrower request. */
const listenExpress = (handler: express.Express) => listen(handler as unknown as RequestListener);

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

describeMounted("in Express, at the root", (app) => listenExpress(express().use(node(app))), "");

describeMounted(
  "in Express, below a prefix, after express.json()",
  (app) =>
    listenExpress(
      express()
        .use(express.json({ limit: "2mb" }))
        .use("/shop", node(app)),
    ),
  "/shop",
  ["body-parser"],
);

describeMounted(
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
  ["router"],
);

describe("a request whose body the framework has already read", () => {
  it("gets the body that Fastify has parsed if request.body is passed to the handler", async () => {
    const built = await buildWireApp();
    const server = fastify();
    const handler = node(built.open("plain"));
    server.all("/*", (request, reply) => {
      reply.hijack();
      handler(Object.assign(request.raw, { body: request.body }), reply.raw);
    });
    await withTarget(await listenFastify(server), built.project, async (target) => {
      assert.equal((await expectResult(target, "add", { a: "1", b: 2 })).value, 3);
      const textRequest = { method: "POST", path: "/hooks/echo", body: "é", headers: { "content-type": "text/plain" } };
      assert.deepEqual(JSON.parse((await send(target, textRequest)).text), { method: "POST", text: "é" });
    });
  });

  it("gets the text, bytes or JSON that Express has parsed, and 500 for a parsed form", async () => {
    const built = await buildWireApp();
    const server = express()
      .use(express.json({ strict: false }), express.text(), express.raw(), express.urlencoded())
      .use(node(built.open("plain")));
    await withTarget(await listenExpress(server), built.project, async (target) => {
      const echoedText = async (type: string, body: string) => {
        const response = await send(target, {
          method: "POST",
          path: "/hooks/echo",
          body,
          headers: { "content-type": type },
        });
        return response.status === 201 ? JSON.parse(response.text).text : response.status;
      };
      assert.equal(await echoedText("text/plain", "é"), "é");
      assert.equal(await echoedText("application/octet-stream", "é"), "é");
      assert.equal(await echoedText("application/json", '{"a": [1]}'), '{"a":[1]}');
      assert.equal(await echoedText("application/json", "null"), "null");
      assert.equal(await echoedText("application/x-www-form-urlencoded", "a=1"), 500);
      const call = callRequest("echo");
      for (const body of ["1", "null", '"args"', "[]"]) {
        await expectError(target, { ...call, body }, { status: 422, code: "validation_error" });
      }
    });
  });

  it("gets 500 at once, and the reason is logged, if the parsed body is not passed to the handler", async () => {
    const built = await buildWireApp();
    const server = fastify();
    const handler = node(built.open("plain"));
    server.all("/*", (request, reply) => {
      reply.hijack();
      handler(request.raw, reply.raw);
    });
    await withTarget(await listenFastify(server), built.project, async (target) => {
      await expectError(target, callRequest("add", { a: 1 }), { status: 500, code: "internal" });
      assert.match(String(vi.mocked(console.error).mock.calls), /The request's body was read before/);
    });
  });
});

/** Runs a check over a server, then stops the server and removes the build. */
async function withTarget(
  server: LocalServer,
  build: { remove(): void },
  check: (target: SocketTarget) => Promise<void>,
): Promise<void> {
  const target = socketTarget(server.address);
  try {
    await check(target);
  } finally {
    target.close();
    await server.close();
    build.remove();
  }
}
