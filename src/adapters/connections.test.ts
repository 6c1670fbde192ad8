import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { readUntil } from "#test/raw-http";
import { recordedLog } from "#test/recorded-log";
import { Connections, connectionsAboveShare } from "./connections.ts";
import { arrivingConnections } from "./fast/index.ts";
import { guardFileDescriptors } from "./file-descriptors.ts";
import { serverOptions } from "./serve.ts";

/** Connections of an address whose requests are still arriving, numbered from the oldest. */
const of = (address: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ connection: `${address} ${n}`, address }));

describe("the connections above the share of a client", () => {
  it.each([
    [100, 24, 0],
    [100, 25, 0],
    [100, 26, 1],
    [100, 100, 75],
    [103, 25, 0],
    [103, 26, 1],
    [104, 26, 0],
    [65_536, 16_384, 0],
    [65_536, 16_385, 1],
    [4, 1, 0],
    [4, 2, 1],
    [1, 1, 0],
    [3, 1, 0],
    [3, 2, 1],
    [Number.POSITIVE_INFINITY, 100_000, 0],
  ])("of a server with %d connections, %d of which it holds, are %d [REQUEST-63]", (maxConnections, held, above) => {
    const connections = of("192.0.2.1", held);
    const excess = connectionsAboveShare(connections, maxConnections);
    const oldest = connections.slice(0, above).map(({ connection }) => connection);
    expect(excess).toEqual(above === 0 ? [] : [{ client: "192.0.2.1", connections: oldest }]);
  });

  it("are those of each client that exceeds its own, whatever the order, and never those of others", () => {
    const [first, second, third] = [of("192.0.2.1", 30), of("192.0.2.2", 25), of("192.0.2.3", 27)];
    const mixed = Array.from({ length: 30 }, (_, n) => [first, second, third].flatMap((each) => each[n] ?? [])).flat();
    expect(connectionsAboveShare(mixed, 100)).toEqual([
      { client: "192.0.2.1", connections: [0, 1, 2, 3, 4].map((n) => `192.0.2.1 ${n}`) },
      { client: "192.0.2.3", connections: [0, 1].map((n) => `192.0.2.3 ${n}`) },
    ]);
  });

  it("leave exactly the share of a client, which is at most a quarter and at least 1, for every maximum", () => {
    for (let maxConnections = 1; maxConnections <= 300; maxConnections++) {
      const share = Math.max(1, Math.floor(maxConnections / 4));
      for (const held of [share - 1, share, share + 1, maxConnections]) {
        const [excess] = connectionsAboveShare(of("192.0.2.1", held), maxConnections);
        expect(held - (excess?.connections.length ?? 0)).toBe(Math.min(held, share));
      }
    }
  });

  it("are counted together for all addresses of an IPv6 network of 64 bits, and all spellings of an address", () => {
    const network = Array.from({ length: 26 }, (_, n) => ({
      connection: n,
      address: `2001:db8:1:2::${n.toString(16)}`,
    }));
    expect(connectionsAboveShare(network, 100)).toEqual([{ client: "2001:db8:1:2::/64", connections: [0] }]);
    const other = network.map((each, n) => ({ ...each, address: `2001:db8:1:${n.toString(16)}::1` }));
    expect(connectionsAboveShare(other, 100)).toEqual([]);
    const mapped = [...of("192.0.2.1", 13), ...of("::ffff:192.0.2.1", 13)];
    expect(connectionsAboveShare(mapped, 100)).toEqual([{ client: "192.0.2.1", connections: ["192.0.2.1 0"] }]);
  });
});

it("finds no arriving connections in a runtime that does not list them", () => {
  for (const server of [{}, { [Symbol("http.server.connections")]: {} }]) {
    expect(arrivingConnections(server)).toEqual(new Set());
  }
});

describe("a server whose connections are all in use", () => {
  const opened: Socket[] = [];
  let server: Server;

  afterEach(() => {
    for (const socket of opened.splice(0)) socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  /** Starts a server with 108 connections: the share of a client is 27. Its handler never responds to `/slow`. */
  async function start({ isBehindProxy = false } = {}) {
    const { log, lines } = recordedLog();
    server = createServer(serverOptions(process.versions), (request, response) => {
      if (request.url !== "/slow") response.end("done");
    });
    const connections = isBehindProxy ? undefined : new Connections(server);
    guardFileDescriptors(server, { use: { limit: 160, open: 20 }, log, connections });
    await once(server.listen(0, "127.0.0.1"), "listening");
    return lines;
  }

  /** Opens connections from an address, and sends the same bytes on each. */
  async function hold(localAddress: string, count: number, bytes: string): Promise<Socket[]> {
    const { port } = server.address() as AddressInfo; // it listens on a port
    const sockets: Socket[] = [];
    for (let n = 0; n < count; n++) {
      const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => undefined);
      opened.push(socket);
      sockets.push(socket);
      socket.resume();
      await once(socket, "connect");
      if (bytes !== "") socket.write(bytes);
    }
    return sockets;
  }

  const isOpen = (socket: Socket) => !socket.closed;

  /** Resolves with what another address receives. Each connection that is refused is tried again. */
  async function request(localAddress: string): Promise<string> {
    const [socket] = await hold(localAddress, 1, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return socket ? await readUntil(socket, /done$/).catch(() => "") : "";
  }

  it.each([
    ["the start of the headers", "GET / HTTP/1.1\r\nHost: local"],
    ["nothing", ""],
    ["a part of the body", "POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n12345"],
    ["one request and the start of the next", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nHost: local"],
  ])(
    "answers another address if one has sent %s on all, of which it closes the oldest [REQUEST-64]",
    async (_, bytes) => {
      const lines = await start();
      const held = await hold("127.0.0.1", 108, bytes);
      expect(held.every(isOpen)).toBe(true);
      await expect.poll(() => request("127.0.0.2")).toContain("HTTP/1.1 200 OK");
      await expect.poll(() => held.filter(isOpen).length).toBe(27);
      expect(held.slice(-27).every(isOpen)).toBe(true);
      expect(lines.map(({ level, fields }) => [level, fields])).toEqual([
        ["error", { limit: 160, maxConnections: 108 }],
        ["warn", { address: "127.0.0.1", count: 81 }],
      ]);
    },
  );

  it("closes no connection of an address that holds its share, or whose requests have arrived [REQUEST-65]", async () => {
    await start();
    const held = await hold("127.0.0.1", 27, "GET / HTTP/1.1\r\nHost: local");
    const slow = await hold("127.0.0.1", 54, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const others = await hold("127.0.0.2", 27, "GET / HTTP/1.1\r\nHost: local");
    const [refused] = await hold("127.0.0.3", 1, "");
    await expect.poll(() => refused?.closed).toBe(true);
    expect([...held, ...slow, ...others].every(isOpen)).toBe(true);
  });

  it("closes none of a proxy, whose connections are those of all clients", async () => {
    await start({ isBehindProxy: true });
    const held = await hold("127.0.0.1", 108, "GET / HTTP/1.1\r\nHost: local");
    const [refused] = await hold("127.0.0.2", 1, "");
    await expect.poll(() => refused?.closed).toBe(true);
    expect(held.every(isOpen)).toBe(true);
  });
});
