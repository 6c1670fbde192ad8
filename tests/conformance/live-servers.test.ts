/**
 * Live updates: the stream and the poll, alike over every way to an application.
 */
import express from "express";
import fastify from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEvents } from "#test/event-stream";
import { listen } from "#test/listen";
import { startBuilt, startDev } from "#test/run-tsweb";
import { type BuiltWireApp, buildWireApp } from "#test/wire-app";
import { node } from "../../src/adapters/index.ts";
import { COMMON_ENV } from "./wire/index.ts";

/** How an application is asked, and ended. */
interface Way {
  fetch(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<unknown>;
}

const overHttp = (address: string, close: () => Promise<unknown>): Way => ({
  fetch: (path, init) => fetch(address + path, init),
  close,
});

const WAYS: Readonly<Record<string, (app: BuiltWireApp) => Promise<Way>>> = {
  async "by app.fetch"({ open }) {
    const app = open("plain");
    return {
      fetch: (path, init) => app.fetch(new Request(`http://shop.example${path}`, init)),
      close: () => app.close(),
    };
  },
  async "by node(app) in http"({ open }) {
    const server = await listen(node(open("plain")));
    return overHttp(server.address, server.close);
  },
  async "in Express, below a prefix"({ open }) {
    const app = open("plain", "/shop");
    const server = await listen(express().use("/shop", node(app)) as unknown as Parameters<typeof listen>[0]);
    return overHttp(`${server.address}/shop`, server.close);
  },
  async "in Fastify"({ open }) {
    const server = fastify();
    const handler = node(open("plain"));
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", (_request, _payload, done) => done(null));
    server.all("/*", (request, reply) => {
      reply.hijack();
      handler(request.raw, reply.raw);
    });
    const address = await server.listen({ port: 0, host: "127.0.0.1" });
    return overHttp(address, async () => {
      server.server.closeAllConnections();
      await server.close();
    });
  },
  async "of the built server"({ project }) {
    const server = await startBuilt(project.dir, COMMON_ENV);
    return overHttp(server.address, () => server.stop());
  },
  async "in development"({ project }) {
    const server = await startDev(project.dir, COMMON_ENV);
    return overHttp(server.address, () => server.stop());
  },
};

let app: BuiltWireApp;
beforeAll(async () => {
  app = await buildWireApp();
});
afterAll(() => app?.project.remove());

describe.each(Object.entries(WAYS))("live updates %s", (_name, open) => {
  let way: Way;
  beforeAll(async () => {
    way = await open(app);
  });
  afterAll(() => way?.close());

  async function call(name: string, args: object): Promise<string> {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ args });
    const response = await way.fetch(`/__web/rpc/${name}`, { method: "POST", headers, body });
    expect(response.status).toBe(200);
    return (await response.json()).result;
  }

  it("stream: what came before it opened, what comes after, and from where it was left", async () => {
    const feed = await call("feed", { name: "räume:1" });
    await call("say", { name: "räume:1", data: { n: 1 } });
    const response = await way.fetch(`/__web/live?feed=${feed}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("x-request-id")).not.toBeNull();
    const events = readEvents(response.body);
    const first = await events.next();
    expect(first.value?.data).toEqual(["räume:1", '{"n":1}']);
    await call("say", { name: "räume:1", data: "é" });
    expect((await events.next()).value?.data).toEqual(["räume:1", '"é"']);
    await events.return(undefined);

    const again = await way.fetch(`/__web/live?feed=${feed}`, { headers: { "last-event-id": first.value?.id ?? "" } });
    const rest = readEvents(again.body);
    expect((await rest.next()).value?.data).toEqual(["räume:1", '"é"']);
    await rest.return(undefined);
  });

  it("are polled: at once, and when something comes", async () => {
    const feed = await call("feed", { name: "b" });
    const poll = async (query: string) => (await way.fetch(`/__web/poll?feed=${feed}${query}`)).json();
    const { cursor, ...nothing } = await poll("");
    expect(nothing).toEqual({ events: [], gaps: [] });
    const waiting = poll(`&after=${cursor}&wait=25`);
    await call("say", { name: "b", data: [1] });
    expect((await waiting).events).toEqual([["b", [1]]]);
  });

  it("are refused where no page of ours would ask", async () => {
    expect((await way.fetch("/__web/live?feed=AAAA")).status).toBe(403);
    expect((await way.fetch("/__web/live")).status).toBe(400);
    const post = await way.fetch("/__web/poll?feed=AAAA", { method: "POST" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET"]);
  });
});
