/** Bodies that a route reads after its response, on our own server and on one of the application. */
import { once } from "node:events";
import { createServer, type Server, type ServerOptions } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { compiledRoute, createTestApp } from "#test/compiled-app";
import { openSocket, readUntil } from "#test/raw-http";
import { node } from "./node.ts";
import { serverOptions } from "./serve.ts";

let server: Server;

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends a request to a route that keeps its request for the test. Returns the request once the response was received. */
async function sendTo(options: ServerOptions, respondWhen: () => Promise<unknown>, body: string): Promise<Request> {
  const kept: Request[] = [];
  const hook = compiledRoute("POST /hook", {}, async (request) => {
    kept.push(request);
    await respondWhen();
    return new Response(null, { status: 202 });
  });
  server = createServer(options, node(createTestApp({ hook }, { rate: false })));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  const socket = await openSocket(`http://127.0.0.1:${port}`);
  socket.write(`POST /hook HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  expect(await readUntil(socket, /\r\n\r\n/)).toContain("202 Accepted");
  const [request] = kept;
  if (!request) throw new Error("The route was not called.");
  return request;
}

/** Resolves when the parser has had several turns: a body that was sent with its headers has arrived. */
async function untilArrived(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

describe.each<[string, ServerOptions]>([
  ["our own server", serverOptions({ node: "20.19.0" })],
  ["a server of the application", {}],
])("a body that is first read after the response, on %s", (_, options) => {
  it.each<[string, () => Promise<unknown>, string]>([
    ["had arrived before the response", untilArrived, '{"event":"paid"}'],
    ["arrived with the request, which was answered at once", () => Promise.resolve(), '{"event":"paid"}'],
    ["was still arriving", () => Promise.resolve(), JSON.stringify("x".repeat(200_000))],
  ])("fails, and does not wait forever: it %s", async (_, respondWhen, body) => {
    const request = await sendTo(options, respondWhen, body);
    await untilArrived();
    await expect(request.text()).rejects.toThrow("The response was sent before the request's body was read.");
  });
});
