import { EventEmitter, once } from "node:events";
import { createServer as createHttpServer, request, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createServer, type ViteDevServer } from "vite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { explainOverlayErrors } from "./error-messages.ts";

describe("explainOverlayErrors, with the WebSocket of Vite", () => {
  let http: Server;
  let edits: EventEmitter;
  let vite: ViteDevServer;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    http = createHttpServer();
    edits = new EventEmitter();
    vite = await createServer({
      configFile: false,
      logLevel: "silent",
      optimizeDeps: { noDiscovery: true },
      server: { middlewareMode: true, watch: null, ws: { server: http } },
      plugins: [explainOverlayErrors(edits)],
    });
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await vite.close();
    http.close();
  });

  /** Connects as a page does. Returns a function that returns the messages that it has received, as text. */
  async function openPage(): Promise<() => string> {
    const { port } = http.address() as AddressInfo; // it listens on a port
    const upgrade = request({
      port,
      path: `/?token=${vite.config.webSocketToken}`,
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-protocol": "vite-hmr",
      },
    }).end();
    const [, socket, head]: [unknown, Socket, Buffer] = (await once(upgrade, "upgrade")) as never; // typed by its listener
    sockets.push(socket);
    let received = String(head);
    socket.on("data", (data) => {
      received += String(data);
    });
    await expect.poll(() => received).toContain('"connected"');
    return () => received;
  }

  /** Sends an error as Vite does, and lets the time pass during which an edit would cancel it. */
  function fail(message: string): void {
    vi.useFakeTimers();
    try {
      vite.environments.client.hot.send({ type: "error", err: { message, stack: "" } });
      vi.advanceTimersByTime(10_000);
    } finally {
      vi.useRealTimers();
    }
  }

  /** Waits until a page has received all that was sent before. */
  async function receiveAll(received: () => string): Promise<string> {
    vite.ws.send("test:last");
    await expect.poll(received).toContain("test:last");
    return received();
  }

  it("sends an error to an open page", async () => {
    const received = await openPage();
    fail("No such name");
    expect(await receiveAll(received)).toContain("No such name");
  });

  it("sends an error to the page that is opened next, once", async () => {
    fail("No such name");
    expect(await receiveAll(await openPage())).toContain("No such name");
    expect(await receiveAll(await openPage())).not.toContain("No such name");
  });

  it("sends only the last error to the page that is opened next", async () => {
    fail("No such name");
    fail("No such type");
    const received = await receiveAll(await openPage());
    expect(received).toContain("No such type");
    expect(received).not.toContain("No such name");
  });

  it("does not send an error to a page that is opened after an edit", async () => {
    fail("No such name");
    edits.emit("all");
    expect(await receiveAll(await openPage())).not.toContain("No such name");
  });
});
