import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { listen } from "#test/listen";
import { openSocket, readToEnd } from "#test/raw-http";
import {
  type AccessOptions,
  type AllowedHosts,
  allowOnlyThisMachine,
  guardUpgrades,
  isThisMachine,
} from "./requests.ts";

describe("allowOnlyThisMachine", () => {
  const statusFor = async (host: string, allowed?: true | readonly string[]) => {
    const server = await listen(
      allowOnlyThisMachine({ allowedHosts: allowed, base: "" }, (_request, response) =>
        response.end("the application"),
      ),
    );
    try {
      return await statusOf(server.address, host);
    } finally {
      await server.close();
    }
  };

  it("closes the connection of a request that it rejects", async () => {
    const server = await listen(allowOnlyThisMachine({ allowedHosts: undefined, base: "" }, () => undefined));
    const socket = await openSocket(server.address);
    socket.write("GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n");
    const { text } = await readToEnd(socket);
    await server.close();
    expect(text).toMatch(/^HTTP\/1\.1 403 .*\r\nconnection: close\r\n/is);
  });

  it.each([
    "localhost",
    "localhost:3000",
    "LOCALHOST",
    "localhost.",
    "shop.localhost:3000",
    "127.0.0.1",
    "127.8.9.1:3000",
    "[::1]",
    "[::1]:3000",
  ])("serves the loopback host %s", async (host) => {
    expect(await statusFor(host)).toBe(200);
  });

  it.each([
    "evil.example",
    "evil.example:3000",
    "localhost.evil.example",
    "notlocalhost",
    "127.0.0.1.evil.example",
    "127.0.0.1.nip.io",
    "127.1",
    "0.0.0.0",
    "[::2]",
    "[::ffff:127.0.0.1]",
    "10.0.0.1",
    "localhost:3000:80",
    "",
  ])("rejects the host %j, although the connection is local [SITE-35]", async (host) => {
    expect(await statusFor(host)).toBe(403);
  });

  it("serves the hosts that the project's Vite config allows", async () => {
    expect(await statusFor("dev.shop.example", ["dev.shop.example"])).toBe(200);
    expect(await statusFor("a.dev.shop.example", ["dev.shop.example"])).toBe(403);
    expect(await statusFor("shop.example", [".shop.example"])).toBe(200);
    expect(await statusFor("a.b.shop.example", [".shop.example"])).toBe(200);
    expect(await statusFor("myshop.example", [".shop.example"])).toBe(403);
    expect(await statusFor("anything.example", true)).toBe(200);
  });
});

describe("isThisMachine", () => {
  it.each(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "::FFFF:127.0.0.1"])(
    "returns true for the address %s and a loopback host",
    (address) => {
      expect(isThisMachine({ address, host: "localhost:3000" })).toBe(true);
    },
  );

  it.each([
    "192.168.1.7",
    "10.0.0.1",
    "172.17.0.1",
    "::ffff:192.168.1.7",
    "fe80::1",
    "::",
    "0.0.0.0",
    "127.0.0.1.evil.example",
    "1127.0.0.1",
    "",
    undefined,
  ])("returns false for the address %j, although it names a loopback host", (address) => {
    for (const host of ["localhost", "localhost:3000", "127.0.0.1", "[::1]", "shop.localhost"]) {
      expect(isThisMachine({ address, host })).toBe(false);
    }
  });

  it.each(["evil.example", "192.168.1.7:3000", "", undefined])(
    "returns false for this machine and the host %j",
    (host) => {
      expect(isThisMachine({ address: "127.0.0.1", host })).toBe(false);
    },
  );
});

describe("allowOnlyThisMachine, for a client on another machine,", () => {
  const sendFrom = async (address: string, head: string, options: Partial<AccessOptions> = {}) => {
    const access = { allowedHosts: undefined, base: "", ...options };
    const handle = allowOnlyThisMachine(access, (_request, response) => response.end("the application"));
    const server = await listen((request, response) => {
      Object.defineProperty(request.socket, "remoteAddress", { value: address });
      handle(request, response);
    });
    const socket = await openSocket(server.address);
    socket.write(`${head}\r\nConnection: close\r\n\r\n`);
    const { text } = await readToEnd(socket);
    await server.close();
    return text;
  };

  it("rejects every loopback host, with the address, the host and the fix [SITE-36]", async () => {
    for (const host of ["localhost", "localhost:3000", "127.0.0.1:3000", "[::1]", "shop.localhost"]) {
      const text = await sendFrom("192.168.1.7", `GET / HTTP/1.1\r\nHost: ${host}`);
      expect(text).toMatch(/^HTTP\/1\.1 403 /);
      expect(text).toContain(`from 192.168.1.7 for the host ${JSON.stringify(host)}`);
      expect(text).toContain("add the host to server.allowedHosts in vite.config.ts");
      expect(text).not.toContain("the application");
    }
  });

  it("serves the hosts that the project's Vite config allows, also localhost", async () => {
    const request = "GET / HTTP/1.1\r\nHost: 192.168.1.5:3000";
    expect(await sendFrom("192.168.1.7", request, { allowedHosts: ["192.168.1.5"] })).toContain("the application");
    expect(
      await sendFrom("172.17.0.1", "GET / HTTP/1.1\r\nHost: localhost", { allowedHosts: ["localhost"] }),
    ).toContain("the application");
    expect(await sendFrom("192.168.1.7", request, { allowedHosts: ["192.168.1.6"] })).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("responds to a call with an error body, and to any request with its ids", async () => {
    const text = await sendFrom(
      "192.168.1.7",
      "POST /shop/__web/rpc/add HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: this-one",
      { base: "/shop" },
    );
    expect(text).toMatch(/x-request-id: this-one/i);
    expect(text).toMatch(/traceparent: 00-/i);
    expect(text).toMatch(/x-content-type-options: nosniff/i);
    expect(JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1))).toMatchObject({
      error: { code: "forbidden" },
    });
  });

  it.each([
    ["/__web/rpc/add", "", true],
    ["/__web/rpc/add", null, true],
    ["/shop/__web/rpc/add?a=b", null, true],
    ["/__web/rpc/add", "/shop", false],
    ["/files/__web/rpc/add", "", false],
    ["/?next=/__web/rpc/add", "", false],
    ["/?next=/__web/rpc/add", null, false],
    ["/shop?next=/__web/rpc/add", "/shop", false],
  ])("for %s and the base %j, recognises a call by the path below the base: %j", async (path, base, isCall) => {
    const text = await sendFrom("192.168.1.7", `POST ${path} HTTP/1.1\r\nHost: localhost`, { base });
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
    expect(text).toMatch(isCall ? /content-type: application\/json/i : /content-type: text\/plain/i);
  });
});

describe("guardUpgrades", () => {
  const statusFor = async (headers: readonly string[], allowed?: AllowedHosts) => {
    const [http, vite] = [createServer(), createServer()];
    guardUpgrades(http, vite, () => allowed);
    vite.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\n"));
    vite.on("upgrade", () => {
      throw new Error("During a restart, the Vite that starts receives a connection of the one that runs.");
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const address = http.address();
    if (typeof address !== "object" || address === null) throw new Error("The server does not listen.");
    const socket = await openSocket(`http://127.0.0.1:${address.port}`);
    const upgrade = ["GET /__web/dev/ HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", ...headers];
    socket.write(`${upgrade.join("\r\n")}\r\n\r\n`);
    const { text } = await readToEnd(socket);
    http.close();
    return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
  };

  it("passes the connections of the application's own pages to Vite", async () => {
    expect(await statusFor(["Host: localhost:3000", "Origin: http://localhost:3000"])).toBe(101);
    expect(await statusFor(["Host: [::1]:3000", "Origin: http://[::1]:3000"])).toBe(101);
  });

  it.each([
    ["another site", ["Host: localhost:3000", "Origin: https://evil.example"]],
    ["another application on this machine", ["Host: localhost:3000", "Origin: http://localhost:5173"]],
    ["a sandboxed frame", ["Host: localhost:3000", "Origin: null"]],
    ["a program without Origin", ["Host: localhost:3000"]],
    ["a site that points its name at this machine", ["Host: evil.example:3000", "Origin: http://evil.example:3000"]],
  ])("closes a connection of %s [SITE-37]", async (_client, headers) => {
    expect(await statusFor(headers)).toBe(403);
  });

  it("closes a connection of another site if all hosts are allowed", async () => {
    expect(await statusFor(["Host: dev.example", "Origin: https://evil.example"], true)).toBe(403);
    expect(await statusFor(["Host: dev.example", "Origin: https://dev.example"], true)).toBe(101);
  });

  it("passes a connection of a page whose host the Vite config allows, behind a proxy that sends another Host", async () => {
    const headers = ["Host: localhost:3000", "Origin: https://dev.shop.example"];
    expect(await statusFor(headers, ["dev.shop.example"])).toBe(101);
  });
});

async function statusOf(address: string, host: string): Promise<number> {
  const socket = await openSocket(address);
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const { text } = await readToEnd(socket);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
}
