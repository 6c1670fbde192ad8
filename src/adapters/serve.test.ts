import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { BODY_TIMEOUT_SECONDS } from "../bodies/index.ts";
import { loadConfig } from "../config/index.ts";
import { isNode } from "./fast/index.ts";
import { listenOn, SERVER_LIMITS, serverOptions } from "./serve.ts";

it("ends the time limit of a body before Node's request timeout, even after the slowest headers", () => {
  const { headersTimeout, connectionsCheckingInterval, requestTimeout } = SERVER_LIMITS;
  const lastHeadersMs = headersTimeout + connectionsCheckingInterval;
  expect(requestTimeout).toBeGreaterThan(lastHeadersMs + BODY_TIMEOUT_SECONDS * 1000);
});

it.each([
  { node: "20.0.0", bun: "1.0.0" },
  { node: "20.0.0", deno: "2.0.0" },
])("uses nothing that relies on the server of Node on another runtime: %j", (versions) => {
  expect(isNode(versions)).toBe(false);
  expect(serverOptions(versions)).toEqual({ ...SERVER_LIMITS, keepAliveTimeout: 65_000 });
});

it("closes idle connections itself on Node, in place of a timer for each response", () => {
  expect(isNode({ node: "20.19.0" })).toBe(true);
  expect(serverOptions({ node: "20.19.0" }).keepAliveTimeout).toBe(0);
});

describe("the address of a server", () => {
  it.each([
    ["127.0.0.1", /^http:\/\/127\.0\.0\.1:\d+$/],
    ["0.0.0.0", /^http:\/\/localhost:\d+$/],
    ["::", /^http:\/\/localhost:\d+$/],
    ["::1", /^http:\/\/\[::1\]:\d+$/],
    ["localhost", /^http:\/\/localhost:\d+$/],
    ["127.0.0.2", /^http:\/\/127\.0\.0\.2:\d+$/],
  ])("that listens on %s has this host, or localhost for all addresses, and can be opened", async (host, expected) => {
    const server = createServer((_, response) => response.end("ok"));
    const { address } = await listenOn(server, { host, port: 0 });
    expect(address).toMatch(expected);
    expect(await (await fetch(address, { headers: { connection: "close" } })).text()).toBe("ok");
    server.close();
  });

  it("has localhost if nobody has chosen the host", async () => {
    const server = createServer((_, response) => response.end("ok"));
    const { host, isDefaultHost } = loadConfig({ WEB_ENV: "development" }, { built: false, projectDir: "/" });
    const { address } = await listenOn(server, { host, isDefaultHost, port: 0 });
    expect(address).toMatch(/^http:\/\/localhost:\d+$/);
    expect(await (await fetch(address, { headers: { connection: "close" } })).text()).toBe("ok");
    server.close();
  });
});

describe("an address on which no server can listen", () => {
  it.each([
    ["foo.invalid", "HOST is foo.invalid, a name that has no address (E"],
    ["192.0.2.1", "HOST is 192.0.2.1, which is no address of this machine (EADDRNOTAVAIL)."],
  ])("is reported with the setting to correct: %s", async (host, message) => {
    const error = await listenOn(createServer(), { host, port: 0 }).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "ListenError", message: expect.stringContaining(message) });
    expect(error).toMatchObject({ message: expect.stringContaining("Set HOST to 127.0.0.1") });
  });
});
