import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { finished } from "node:stream/promises";
import { afterEach, expect, test } from "vitest";
import { ServerRequest } from "./server-request.ts";

let server: Server;
let socket: Socket;

/** Starts a server with such requests, and a connection to it. */
async function start(handle: (request: ServerRequest & IncomingMessage, response: ServerResponse) => void) {
  server = createServer(
    { IncomingMessage: ServerRequest as unknown as typeof IncomingMessage }, // it inherits all members, also static ones
    (request, response) => {
      if (!(request instanceof ServerRequest)) throw new Error("The server has not used the class.");
      handle(request, response);
    },
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
}

afterEach(async () => {
  socket.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Returns what the connection receives until it contains a text. */
async function receive(text: string): Promise<string> {
  let received = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    received += String(chunk);
    if (received.includes(text)) return received;
  }
  throw new Error(`The connection ended without ${text}. Received: ${received}`);
}

const post = (body: string, headers = `Content-Length: ${Buffer.byteLength(body)}`) =>
  `POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${body}`;

/** Waits until the parser has received so many bytes of the connection. */
async function untilReceived(request: IncomingMessage, bytes: number) {
  await expect.poll(() => request.socket.bytesRead).toBeGreaterThanOrEqual(bytes);
  await new Promise(setImmediate);
}

test("takes a body that has arrived, once", async () => {
  await start(async (request, response) => {
    await untilReceived(request, post("hello").length);
    const taken = [request.takeBody(), request.takeBody()];
    response.end(JSON.stringify([taken.map((body) => body?.toString() ?? null), request.readableEnded]));
  });
  socket.write(post("hello"));
  expect(await receive("]")).toContain('[["hello",null],true]');
});

test("takes a body that arrived in parts", async () => {
  await start(async (request, response) => {
    await untilReceived(request, post("hello").length);
    response.end(`<${request.takeBody()}>`);
  });
  socket.write(post("hello").slice(0, -3));
  await new Promise(setImmediate);
  socket.write("llo");
  expect(await receive(">")).toContain("<hello>");
});

test("takes no body before all of it has arrived, and then streams it", async () => {
  await start(async (request, response) => {
    await untilReceived(request, post("hello").length - 3);
    const early = request.takeBody();
    response.write("started ");
    let text = "";
    for await (const chunk of request) text += chunk;
    response.end(`<${early} ${text} ${request.takeBody()}>`);
  });
  socket.write(post("hello").slice(0, -3));
  await receive("started");
  socket.write("llo");
  expect(await receive(">")).toContain("<null hello null>");
});

test("takes no body without a declared length, whose bytes have to be counted", async () => {
  const chunked = post("5\r\nhello\r\n0\r\n\r\n", "Transfer-Encoding: chunked");
  await start(async (request, response) => {
    await untilReceived(request, chunked.length);
    const taken = request.takeBody();
    response.end(`<${taken} ${(await request.toArray()).join("")}>`);
  });
  socket.write(chunked);
  expect(await receive(">")).toContain("<null hello>");
});

test.each<[name: string, read: (request: IncomingMessage) => Promise<string>]>([
  [
    "listeners",
    async (request) => {
      let text = "";
      request.on("data", (chunk) => {
        text += chunk;
      });
      await once(request, "end");
      return text;
    },
  ],
  [
    "addListener",
    async (request) => {
      let text = "";
      request.addListener("data", (chunk) => {
        text += chunk;
      });
      await new Promise<void>((resolve) => request.addListener("end", resolve));
      return text;
    },
  ],
  [
    "readable and read()",
    async (request) => {
      let text = "";
      request.on("readable", () => {
        for (let part = request.read(); part !== null; part = request.read()) text += part;
      });
      await finished(request);
      return text;
    },
  ],
  ["read() at once", async (request) => String(request.read())],
  [
    "setEncoding and iteration",
    async (request) => {
      request.setEncoding("utf8");
      return (await request.toArray()).join("");
    },
  ],
])("provides the whole body as a stream to %s, after it has arrived", async (_, read) => {
  await start(async (request, response) => {
    await untilReceived(request, post("hellö").length);
    response.end(`<${await read(request)}>`);
  });
  socket.write(post("hellö"));
  expect(await receive(">")).toContain("<hellö>");
});

test("stops reading from the connection while nothing uses a large body, and continues when something does", async () => {
  const size = 8 * 1024 * 1024;
  let bytesBefore = 0;
  await start(async (request, response) => {
    const { socket: connection } = request;
    const newBytes = () => {
      const received = connection.bytesRead - bytesBefore;
      bytesBefore = connection.bytesRead;
      return bytesBefore === 0 ? null : received;
    };
    await expect.poll(newBytes).toBe(0);
    let bytes = 0;
    for await (const chunk of request) bytes += chunk.length;
    response.end(`<${bytes}>`);
  });
  socket.write(post("x".repeat(size)));
  expect(await receive(">")).toContain(`<${size}>`);
  expect(bytesBefore).toBeLessThan(1024 * 1024);
});

test.each([
  ["a small body", "hello"],
  ["a body above the limit of what is kept", "x".repeat(1024 * 1024)],
])("reads the next request after one with %s that nothing has used", async (_, body) => {
  let count = 0;
  await start((_request, response) => response.end(`<${++count}>`));
  socket.write(post(body));
  await receive("<1>");
  socket.write(post("x"));
  await receive("<2>");
});

test("handles pipelined requests, each with its own body", async () => {
  await start(async (request, response) => response.end(`<${(await request.toArray()).join("")}>`));
  socket.write(post("one") + post("two") + post("three"));
  const received = await receive("<three>");
  expect(received.match(/<\w+>/g)).toEqual(["<one>", "<two>", "<three>"]);
});

test("is complete when its body was taken before the parser has ended, as in a call that is answered at once", async () => {
  let request: ServerRequest | undefined;
  await start((received, response) => {
    request = received;
    process.nextTick(() => response.end(`<${received.takeBody()}>`)); // as node() calls the application
  });
  socket.write(post("hello"));
  expect(await receive(">")).toContain("<hello>");
  expect([request?.complete, request?.readableEnded]).toEqual([true, true]);
});

test.each(["prependListener", "prependOnceListener"] as const)(
  "emits the events of a stream to a listener of %s",
  async (method) => {
    await start(async (request, response) => {
      await untilReceived(request, post("hello").length);
      request[method]("end", () => response.end("<ended>"));
      request.resume();
    });
    socket.write(post("hello"));
    expect(await receive(">")).toContain("<ended>");
  },
);

test("releases a request without a body when its response has ended, and makes no stream for that", async () => {
  let request: IncomingMessage | undefined;
  await start((received, response) => {
    request = received;
    response.end("<done>");
  });
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await receive("<done>");
  await expect.poll(() => request?.readableEnded).toBe(true);
  await new Promise(setImmediate);
  expect(request?.destroyed).toBe(false); // Node ends and destroys a stream that it discards
});

test("reports a client that disconnects within the body, also if nothing has used it before", async () => {
  let broken: unknown;
  await start(async (request) => {
    await untilReceived(request, post("hello").length - 3);
    request.on("error", (error) => {
      broken = error;
    });
    socket.destroy();
  });
  socket.write(post("hello").slice(0, -3));
  await expect.poll(() => broken).toMatchObject({ code: "ECONNRESET" });
});

test("does not report a client as disconnected within a body that was taken", async () => {
  let isAborted: boolean | undefined;
  await start(async (request, response) => {
    await untilReceived(request, post("hello").length);
    request.takeBody();
    response.once("close", () => {
      isAborted = request.aborted;
    });
    socket.destroy();
  });
  socket.write(post("hello"));
  await expect.poll(() => isAborted).toBe(false);
});
