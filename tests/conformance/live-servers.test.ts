/**
 * Live updates over every server that can serve an application: event streams and polls behave the same.
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

/** An application behind a server. The test that starts it has to close it. */
interface LiveServer {
  fetch(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<unknown>;
}

const overHttp = (origin: string, close: () => Promise<unknown>): LiveServer => ({
  fetch: (path, init) => fetch(origin + path, init),
  close,
});

const SERVERS: Readonly<Record<string, (app: BuiltWireApp) => Promise<LiveServer>>> = {
  async "of app.fetch"({ open }) {
    const app = open("plain");
    return {
      fetch: (path, init) => app.fetch(new Request(`http://shop.example${path}`, init)),
      close: () => app.close(),
    };
  },
  async "of node(app) in node:http"({ open }) {
    const server = await listen(node(open("plain")));
    return overHttp(server.address, server.close);
  },
  async "of node(app) in Express, below a prefix"({ open }) {
    const app = open("plain", "/shop");
    // Its type declares a narrower request than that of Node.
    const server = await listen(express().use("/shop", node(app)) as unknown as Parameters<typeof listen>[0]);
    return overHttp(`${server.address}/shop`, server.close);
  },
  async "of node(app) in Fastify"({ open }) {
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
  async "of the development server"({ project }) {
    const server = await startDev(project.dir, COMMON_ENV);
    return overHttp(server.address, () => server.stop());
  },
};

let app: BuiltWireApp;
beforeAll(async () => {
  app = await buildWireApp();
});
afterAll(() => app?.project.remove());

describe.each(Object.entries(SERVERS))("live updates %s", (_name, open) => {
  let server: LiveServer;
  beforeAll(async () => {
    server = await open(app);
  });
  afterAll(() => server?.close());

  async function call(name: string, args: object): Promise<string> {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ args });
    const response = await server.fetch(`/__web/rpc/${name}`, { method: "POST", headers, body });
    expect(response.status).toBe(200);
    return (await response.json()).result;
  }

  it("are delivered by an event stream: missed messages, new messages, and those after Last-Event-ID", async () => {
    const feed = await call("issue_feed", { name: "räume:1" });
    await call("publish_message", { name: "räume:1", data: { n: 1 } });
    const response = await server.fetch(`/__web/live?feed=${feed}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("x-request-id")).not.toBeNull();
    const events = readEvents(response.body);
    const first = await events.next();
    expect(first.value?.data).toEqual(["räume:1", '{"n":1}']);
    await call("publish_message", { name: "räume:1", data: "é" });
    expect((await events.next()).value?.data).toEqual(["räume:1", '"é"']);
    await events.return(undefined);

    const resumed = await server.fetch(`/__web/live?feed=${feed}`, {
      headers: { "last-event-id": first.value?.id ?? "" },
    });
    const rest = readEvents(resumed.body);
    expect((await rest.next()).value?.data).toEqual(["räume:1", '"é"']);
    await rest.return(undefined);
  });

  it("are delivered by polls: at once, and after waiting for a message", async () => {
    const feed = await call("issue_feed", { name: "b" });
    const poll = async (query: string) => (await server.fetch(`/__web/poll?feed=${feed}${query}`)).json();
    const { cursor, ...nothing } = await poll("");
    expect(nothing).toEqual({ events: [], gaps: [] });
    const waiting = poll(`&after=${cursor}&wait=25`);
    await call("publish_message", { name: "b", data: [1] });
    expect((await waiting).events).toEqual([["b", [1]]]);
  });

  it("are delivered to POST: by an event stream, whose ids tell one position each, and by a poll", async () => {
    const feeds = [await call("issue_feed", { name: "still" }), await call("issue_feed", { name: "räume:2" })];
    const post = (endpoint: string, body: object) =>
      server.fetch(`/__web/${endpoint}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const response = await post("live", { feeds });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const events = readEvents(response.body);
    await call("publish_message", { name: "räume:2", data: 1 });
    const tags = (await events.next()).value;
    expect([tags?.event, Object.values(JSON.parse(tags?.data[1] ?? ""))]).toEqual(["tags", ["still", "räume:2"]]);
    const { value } = await events.next();
    expect([value?.data, value?.id]).toEqual([["räume:2", "1"], expect.stringMatching(/^1=[0-9A-Za-z.-]+$/)]);
    await events.return(undefined);
    const { cursor } = await (await post("poll", { feeds: feeds.slice(1), cursor: value?.id.slice(2) })).json();
    const waiting = post("poll", { feeds: feeds.slice(1), cursor, wait: 25 });
    await call("publish_message", { name: "räume:2", data: 2 });
    expect((await (await waiting).json()).events).toEqual([["räume:2", 2, expect.stringMatching(/^0=/)]]);
  });

  it("are refused for an invalid feed, no feed, and another method", async () => {
    expect((await server.fetch("/__web/live?feed=AAAA")).status).toBe(403);
    expect((await server.fetch("/__web/live")).status).toBe(400);
    const put = await server.fetch("/__web/poll?feed=AAAA", { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, POST"]);
  });
});
