import { beforeEach, describe, expect, it, vi } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { recordedLog } from "#test/recorded-log";
import { request } from "../http/index.ts";
import { createAddressReader } from "./host-info.ts";

const warn = vi.fn();
const log = { warn, error: vi.fn(), info: vi.fn() };
beforeEach(() => warn.mockReset());

/** The second argument that hosts pass by themselves. */
const FOREIGN = [
  ["Bun's server", { requestIP: () => null, address: { address: "127.0.0.1", port: 1 } }, "server.requestIP(request)"],
  ["Deno's connection", { remoteAddr: { hostname: "127.0.0.1" } }, "remoteAddr.hostname"],
  ["the environment of @hono/node-server", { incoming: {}, outgoing: {} }, "getConnInfo(c).remote.address"],
  ["the environment of a worker", { DATABASE: {} }, "(request) => app.fetch(request, { address })"],
  ["an empty object", {}, "(request) => app.fetch(request, { address })"],
  ["an address that is no string", { address: 1 }, "(request) => app.fetch(request, { address })"],
  ["null", null, "(request) => app.fetch(request, { address })"],
  ["a string", "127.0.0.1", "(request) => app.fetch(request, { address })"],
] as const;

describe("the second argument of app.fetch", () => {
  it("is read if its address is a string", () => {
    expect(createAddressReader(log)({ address: "192.0.2.1" })).toBe("192.0.2.1");
    expect(warn).not.toHaveBeenCalled();
  });

  it.each([undefined, { address: undefined }, { address: null }])("may have no address: %j", (info) => {
    expect(createAddressReader(log)(info)).toBeUndefined();
    expect(warn).not.toHaveBeenCalled();
  });

  it.each(FOREIGN)("gives no address if it is %s, and the fix is logged once [REQUEST-79]", (_, info, fix) => {
    const readAddress = createAddressReader(log);
    expect([readAddress(info), readAddress(info)]).toEqual([undefined, undefined]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.lastCall?.[1]).toContain(fix);
    expect(warn.mock.lastCall?.[1]).toContain("All clients count as one");
  });
});

describe("a request without X-Forwarded-For, with WEB_TRUST_PROXY", () => {
  it("counts as one of one client, whatever its connection is, which is logged once, but not for health checks", async () => {
    const address = compiledServer("address", () => request.address);
    const { log, lines } = recordedLog();
    const app = createTestApp(
      { address },
      {
        env: { WEB_AUTH_SECRET: "5a".repeat(32), WEB_TRUST_PROXY: "1" },
        rate: { calls: 3, seconds: 60 },
        log,
      },
    );
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"args":{}}' };
    const send = (peer: string) => app.fetch(new Request("http://a/__web/rpc/address", init), { address: peer });
    await app.fetch(new Request("http://a/healthz"), { address: "10.0.0.9" });
    expect(lines).toEqual([]);
    const responses: Response[] = [];
    for (const peer of ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]) {
      responses.push(await send(peer));
    }
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(await responses[0]?.json()).toEqual({ result: "" });
    expect(lines.filter(({ message }) => message.includes("has no X-Forwarded-For"))).toHaveLength(1);
  });
});
