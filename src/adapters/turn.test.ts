import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { appOf, compiledPage, compiledServer } from "#test/compiled";
import { listen } from "#test/listen";
import { callBytes, readToEnd, readUntil } from "#test/raw";
import { node } from "./node.ts";
import { inTurn } from "./turn.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** Serves a handler, and opens a connection to it. */
async function connected(handler: RequestListener): Promise<Socket> {
  const server = await listen(handler);
  opened.push(server);
  const client = connect(Number(new URL(server.address).port), "127.0.0.1");
  opened.push({ close: () => client.destroy() });
  await once(client, "connect");
  return client;
}

const getBytes = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe("requests that are sent ahead", () => {
  it("are begun one after the other, each when the answer before it has left", async () => {
    const events: string[] = [];
    const client = await connected((request, response) =>
      inTurn(request, response, () => {
        events.push(`begin ${request.url}`);
        response.once("finish", () => events.push(`end ${request.url}`));
        setImmediate(() => response.end(`<${request.url}>`));
      }),
    );
    client.write(getBytes("/a") + getBytes("/b") + getBytes("/c"));
    const text = await readUntil(client, /<\/c>/);
    expect(text.match(/<\/.>/g)).toEqual(["</a>", "</b>", "</c>"]);
    expect(events.slice(0, 5)).toEqual(["begin /a", "end /a", "begin /b", "end /b", "begin /c"]);
  });

  it("keep their bodies", async () => {
    const echo = compiledServer("echo", (text: string) => text, { params: { text: "any" } });
    const client = await connected(node(appOf({ echo })));
    const long = "x".repeat(200_000);
    client.write(callBytes("echo", { text: "first" }) + callBytes("echo", { text: long }));
    client.write(callBytes("echo", { text: "last" }));
    const text = await readUntil(client, /"last"\}$/);
    expect(text.match(/"result":"\w+"/g)?.map((each) => each.length)).toEqual(
      ["first", long, "last"].map((each) => `"result":"${each}"`.length),
    );
  });

  it("behind an answer that never ends are not begun, nor when the connection has closed", async () => {
    const steps: string[] = [];
    const endless = (name: string) =>
      compiledServer(
        name,
        async function* () {
          try {
            steps.push(`${name} begins`);
            for (;;) yield await new Promise((resolve) => setImmediate(resolve, name));
          } finally {
            steps.push(`${name} ends`);
          }
        },
        { stream: true },
      );
    const ping = compiledServer("ping", () => steps.push("ping"));
    const client = await connected(node(appOf({ one: endless("one"), other: endless("other"), ping })));
    client.write(callBytes("one") + callBytes("other") + callBytes("ping"));
    await readUntil(client, /"chunk":"one"/);
    client.destroy();
    await vi.waitFor(() => expect(steps).toContain("one ends"));
    expect(steps).toEqual(["one begins", "one ends"]);
  });

  it("have their connection cut when they are too many", async () => {
    const run = vi.fn(() => "x".repeat(100_000));
    const client = await connected(node(appOf({ page: compiledPage("/", run) })));
    client.pause(); // it reads nothing
    const received = readToEnd(client);
    client.write(getBytes("/").repeat(2_000));
    client.resume();
    await received;
    expect(run.mock.calls.length).toBeLessThanOrEqual(101);
  });

  it("may be as many as a hundred", async () => {
    const client = await connected(node(appOf({ page: compiledPage("/", () => "here") })));
    client.write(getBytes("/").repeat(100) + getBytes("/nowhere"));
    const text = await readUntil(client, / 404 .*<\/html>$/s);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(100);
  });
});
