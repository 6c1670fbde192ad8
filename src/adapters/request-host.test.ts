/** Requests whose target or host is unusual, through the handler in a server of Node and in Express. */
import type { RequestListener } from "node:http";
import express from "express";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { type LocalServer, listen } from "#test/listen";
import { parseResponse, sendBytes } from "#test/raw-http";
import { request } from "../http/index.ts";
import { node } from "./node.ts";

const app = createTestApp({
  ping: compiledServer("ping", () => "pong"),
  info: compiledPage("/info", () => `${request.path} ${request.query.q} ${request.headers.host}`),
});

const HOSTS: readonly (readonly [name: string, open: () => Promise<LocalServer>])[] = [
  ["a server of Node", () => listen(node(app))],
  // An Express application is a request listener of Node. Its type declares a narrower request.
  ["Express", () => listen(express().use(node(app)) as unknown as RequestListener)],
];

describe.each(HOSTS)("a request to %s", (_, open) => {
  let server: LocalServer;
  beforeAll(async () => {
    server = await open();
    await fetch(`${server.address}/info`); // the handler knows its server from now on
  });
  afterAll(() => server.close());

  const send = async (lines: readonly string[], body = "") =>
    parseResponse(await sendBytes(server.address, `${lines.join("\r\n")}\r\nConnection: close\r\n\r\n${body}`));

  it.each([
    ["http://shop.example/info?q=1", "/info 1 shop.example"],
    ["HTTP://other.example:8080/info?q=1", "/info 1 other.example:8080"],
  ])("with the absolute target %s is served, with the host of the target", async (target, text) => {
    const response = await send([`GET ${target} HTTP/1.1`, "Host: shop.example"]);
    expect([response.status, response.body]).toEqual([200, expect.stringContaining(text)]);
  });

  it("with an absolute target runs a call", async () => {
    const body = '{"args":{}}';
    const origin = "http://shop.example";
    const head = ["Host: x", "Content-Type: application/json", `Origin: ${origin}`, `Content-Length: ${body.length}`];
    const response = await send([`POST ${origin}/__web/rpc/ping HTTP/1.1`, ...head], body);
    expect([response.status, response.body]).toEqual([200, '{"result":"pong"}']);
  });

  const REFUSED = [
    ["two hosts", (path: string) => [`POST ${path} HTTP/1.1`, "Host: a", "Host: b"]],
    ["an empty host", (path: string) => [`POST ${path} HTTP/1.1`, "Host:"]],
    ["a host with a path", (path: string) => [`POST ${path} HTTP/1.1`, "Host: a/admin"]],
    ["an absolute target and two hosts", (path: string) => [`POST http://a${path} HTTP/1.1`, "Host: a", "Host: b"]],
    ["an absolute target with a user", (path: string) => [`POST http://u@a${path} HTTP/1.1`, "Host: a"]],
    ["an absolute target of another scheme", (path: string) => [`POST ftp://a${path} HTTP/1.1`, "Host: a"]],
    ["a dot segment", (path: string) => [`POST ${path}/%2e%2e/x HTTP/1.1`, "Host: a"]],
    ["broken percent-encoding", (path: string) => [`POST ${path}%zz HTTP/1.1`, "Host: a"]],
    ["a header that is malformed", (path: string) => [`POST ${path} HTTP/1.1`, "Host: a", "b@d name: x"]],
  ] as const;

  it.each(REFUSED)("with %s gets 400 with its ids, with an error body on paths of calls and forms", async (_, head) => {
    for (const [path, type] of [
      ["/__web/rpc/ping", "application/json"],
      ["/__web/form/ping", "application/json"],
      ["/info", "text/plain; charset=utf-8"],
    ] as const) {
      const [line = "", ...fields] = head(path);
      const response = await send([line, "X-Request-Id: my-id", ...fields, "Content-Length: 0"]);
      expect([path, response.status, response.headers]).toMatchObject([
        path,
        400,
        { "x-request-id": "my-id", "content-type": type, traceparent: expect.stringMatching(/^00-/) },
      ]);
      if (type === "application/json") expect(JSON.parse(response.body).error.code).toBe("validation_error");
    }
  });
});
