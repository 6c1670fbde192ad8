import { once } from "node:events";
import { createServer, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type BodySink, PushedBody } from "../http/index.ts";
import { isFast } from "./fast/index.ts";
import { writeResponse } from "./write-response.ts";

const opened: { close(): unknown }[] = [];
afterEach(() => {
  for (const each of opened.splice(0).reverse()) each.close();
});

interface PushedResponse {
  readonly sink: BodySink;
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly onDrain: ReturnType<typeof vi.fn>;
  readonly onClose: ReturnType<typeof vi.fn>;
}

/** Serves a pushed body to each request. A test writes it. */
async function serve(prepare: (response: ServerResponse) => void = () => undefined) {
  const responses: PushedResponse[] = [];
  const server = createServer((_, response) => {
    prepare(response);
    const body = new PushedBody((sink) => {
      sink.write("start\n");
      const producer = { onDrain: vi.fn(), onClose: vi.fn() };
      // A response that waits for an earlier one of its connection has no socket yet.
      responses.push({ sink, response, socket: response.req.socket, ...producer });
      return producer;
    });
    void writeResponse({ status: 200, headers: ["content-type", "text/plain"], body }, response);
  });
  opened.push({ close: () => server.closeAllConnections() }, server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { responses, port: portOf(server) };
}

const portOf = (server: Server) => (server.address() as AddressInfo).port; // it listens on a port

/** Opens a connection and sends requests on it. Returns the connection, and what it has received so far. */
function openConnection(port: number, requests: string) {
  const received = { text: "" };
  const socket = connect(port, "127.0.0.1", () => socket.write(requests));
  socket.on("data", (data) => {
    received.text += String(data);
  });
  opened.push({ close: () => socket.destroy() });
  return { socket, received };
}

const GET = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

function share(responses: readonly PushedResponse[], text: string): (boolean | undefined)[] {
  const bytes = Buffer.from(text);
  return responses.map(({ sink }) => sink.writeShared?.(bytes));
}

/** Returns the bodies that clients receive, read by Node's client, once a server has ended them. */
async function readBodies(port: number, count: number, end: () => void) {
  const bodies = Array.from({ length: count }, async () => {
    const sent = request({ port, host: "127.0.0.1", agent: false }).end();
    const [response] = await once(sent, "response");
    let text = "";
    for await (const chunk of response) text += String(chunk);
    return text;
  });
  end();
  return Promise.all(bodies);
}

describe("bytes that are written to many responses", () => {
  it("are encoded once, and passed to each connection in one write", async () => {
    const { responses, port } = await serve();
    const clients = [1, 2, 3].map(() => openConnection(port, GET));
    await expect
      .poll(() => clients.map(({ received }) => received.text.endsWith("start\n\r\n")))
      .toEqual(Array(3).fill(true));
    const writes = responses.map(({ socket }) => vi.spyOn(socket, "write"));
    expect(share(responses, "message")).toEqual([true, true, true]);
    const chunks = writes.map(({ mock }) => mock.calls.map(([chunk]) => chunk));
    expect(chunks.map((each) => each.length)).toEqual(isFast("chunks") ? [1, 1, 1] : [4, 4, 4]);
    if (isFast("chunks")) expect(new Set(chunks.flat()).size).toBe(1);
    for (const { received } of clients) await expect.poll(() => received.text).toMatch(/start\n\r\n7\r\nmessage\r\n$/);
  });

  it("keep their order with other writes and the end, as clients of HTTP read them", async () => {
    const { responses, port } = await serve();
    const bodies = await readBodies(port, 2, async () => {
      await expect.poll(() => responses).toHaveLength(2);
      for (const { sink } of responses) sink.write("own 1\n");
      share(responses, "shared 2, with ünicode\n");
      for (const { sink } of responses) sink.write("own 3\n");
      share(responses, "shared 4\n");
      share(responses, "shared 5\n");
      for (const { sink } of responses) sink.end();
    });
    const text = "start\nown 1\nshared 2, with ünicode\nown 3\nshared 4\nshared 5\n";
    expect(bodies).toEqual([text, text]);
  });

  it("leave the connection usable for the next request", async () => {
    const { responses, port } = await serve();
    const { socket, received } = openConnection(port, GET);
    for (const count of [1, 2, 3]) {
      await expect.poll(() => responses).toHaveLength(count);
      share(responses.slice(-1), `message ${count}\n`);
      responses.at(-1)?.sink.end();
      await expect.poll(() => received.text.split("0\r\n\r\n").length).toBe(count + 1);
      expect(received.text).toContain(`\r\na\r\nmessage ${count}\n\r\n0\r\n\r\n`);
      socket.write(GET);
    }
  });

  it("wait behind the earlier response of a connection whose requests are pipelined", async () => {
    const { responses, port } = await serve();
    const { received } = openConnection(port, GET + GET);
    await expect.poll(() => responses).toHaveLength(2);
    share(responses.slice(1), "second");
    share(responses.slice(0, 1), "first");
    responses[1]?.sink.end();
    responses[0]?.sink.end();
    await expect.poll(() => received.text.split("0\r\n\r\n").length).toBe(3);
    const bodies = received.text.split("0\r\n\r\n").map((text) => /first|second/.exec(text)?.[0]);
    expect(bodies).toEqual(["first", "second", undefined]);
  });

  it("are sent without chunks to a client of HTTP/1.0", async () => {
    const { responses, port } = await serve();
    const { received } = openConnection(port, "GET / HTTP/1.0\r\n\r\n");
    await expect.poll(() => responses).toHaveLength(1);
    share(responses, "message\n");
    await expect.poll(() => received.text).toMatch(/\r\n\r\nstart\nmessage\n$/);
  });

  it("pass through a `write` that another package has set, for example to compress", async () => {
    const written: unknown[] = [];
    const { responses, port } = await serve((response) => {
      const write = response.write.bind(response) as (chunk: unknown) => boolean; // it has several signatures
      response.write = (chunk: unknown) => {
        written.push(String(chunk));
        return write(chunk);
      };
    });
    openConnection(port, GET);
    await expect.poll(() => responses).toHaveLength(1);
    share(responses, "message");
    expect(written).toEqual(["start\n", "message"]);
  });

  it("report a slow client, and later that it has read everything", async () => {
    const { responses, port } = await serve();
    const { socket } = openConnection(port, GET);
    await expect.poll(() => responses).toHaveLength(1);
    socket.pause();
    const block = "x".repeat(64 * 1024);
    while (share(responses, block)[0]); // until the buffers of the connection are full
    expect(responses[0]?.onDrain).not.toHaveBeenCalled();
    socket.resume();
    await expect.poll(() => responses[0]?.onDrain).toHaveBeenCalled();
  });

  it("are ignored after the client has disconnected", async () => {
    const { responses, port } = await serve();
    const { socket } = openConnection(port, GET);
    await expect.poll(() => responses).toHaveLength(1);
    socket.destroy();
    await expect.poll(() => responses[0]?.onClose).toHaveBeenCalledOnce();
    expect(share(responses, "message")).toEqual([false]);
    expect(responses[0]?.onDrain).not.toHaveBeenCalled();
  });
});

it("an open response does not keep the text of its headers, and ends normally", async () => {
  const { responses, port } = await serve();
  const { received } = openConnection(port, GET);
  await expect.poll(() => responses).toHaveLength(1);
  const [first] = responses;
  expect(String(Reflect.get(first?.response ?? {}, "_header"))).not.toContain("text/plain");
  expect(first?.response.headersSent).toBe(true);
  first?.sink.write("more\n");
  first?.sink.end();
  await expect
    .poll(() => received.text)
    .toMatch(/^HTTP\/1\.1 200 OK\r\ncontent-type: text\/plain\r\n.*start\n.*more\n\r\n0\r\n\r\n$/s);
});
