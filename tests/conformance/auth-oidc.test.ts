/**
 * oidc_userinfo against a certified provider, and against servers with invalid responses.
 */
import { EventEmitter, once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { PROFILE, type RunningProvider, startIdentityProvider } from "#test/identity-provider";
import { oidc_userinfo } from "../../src/auth/index.ts";
import { RPCError, ValueError } from "../../src/index.ts";

const TOKEN = "a-token.of~the_tests+/==";

async function errorOf(work: Promise<unknown>): Promise<Error & { readonly code?: string }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("The promise was not rejected with an Error.");
}

afterEach(() => {
  vi.useRealTimers();
});

describe("oidc_userinfo with a certified provider", () => {
  const TTL_SECONDS = 600;
  let provider: RunningProvider;
  beforeAll(async () => {
    provider = await startIdentityProvider({ ttlSeconds: TTL_SECONDS });
  });
  afterAll(() => provider.close());

  it("returns the claims that the token's scopes include", async () => {
    expect(await oidc_userinfo(provider.userinfo, await provider.token())).toEqual(PROFILE);
    expect(await oidc_userinfo(new URL(provider.userinfo), await provider.token("openid"))).toEqual({ sub: "ada" });
  });

  it("throws unauthenticated for a token that the provider never issued", async () => {
    const error = await errorOf(oidc_userinfo(provider.userinfo, TOKEN));
    expect(error).toBeInstanceOf(RPCError);
    expect(error).toMatchObject({
      code: "unauthenticated",
      message: "The identity provider refused the access token.",
    });
  });

  it("throws unauthenticated for a token that was revoked", async () => {
    const token = await provider.token();
    await provider.revoke(token);
    expect(await errorOf(oidc_userinfo(provider.userinfo, token))).toMatchObject({ code: "unauthenticated" });
  });

  it("throws unauthenticated for a token once it has expired, and not a second before", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 2) });
    const token = await provider.token();
    vi.setSystemTime(Date.UTC(2026, 0, 2) + (TTL_SECONDS - 1) * 1000);
    expect(await oidc_userinfo(provider.userinfo, token)).toEqual(PROFILE);
    vi.setSystemTime(Date.UTC(2026, 0, 2) + TTL_SECONDS * 1000);
    expect(await errorOf(oidc_userinfo(provider.userinfo, token))).toMatchObject({ code: "unauthenticated" });
  });

  it("throws unauthenticated for a token without the scope openid", async () => {
    // Without openid, it is a token of OAuth only.
    expect(await errorOf(oidc_userinfo(provider.userinfo, await provider.token("profile")))).toMatchObject({
      code: "unauthenticated",
    });
  });
});

describe("oidc_userinfo", () => {
  const servers: Server[] = [];
  /** Starts a server on this machine, and returns its URL. */
  async function serve(listener: RequestListener, host = "127.0.0.1"): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const { port } = server.address() as AddressInfo; // a TCP server has a port
    return `http://${host.includes(":") ? `[${host}]` : host}:${port}/userinfo`;
  }
  const json = (body: string | Uint8Array, headers = {}, status = 200): RequestListener => {
    return (_request, response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
    };
  };

  afterEach(async () => {
    for (const server of servers.splice(0)) {
      const closed = once(server.close(), "close");
      server.closeAllConnections();
      await closed;
    }
  });

  it("sends the token and Accept: application/json, and no cookie", async () => {
    const received: unknown[] = [];
    const url = await serve((request, response) => {
      const { authorization, accept, cookie } = request.headers;
      received.push(request.method, request.url, authorization, accept, cookie);
      json('{"sub":"ada"}')(request, response);
    });
    expect(await oidc_userinfo(`${url}?schema=openid#part`, TOKEN)).toEqual({ sub: "ada" });
    expect(received).toEqual(["GET", "/userinfo?schema=openid", `Bearer ${TOKEN}`, "application/json", undefined]);
  });

  it.each(["127.0.0.1", "localhost", "127.0.0.2"])("accepts plain http on this machine: %s", async (host) => {
    expect(await oidc_userinfo(await serve(json('{"sub":"ada"}'), host), TOKEN)).toEqual({ sub: "ada" });
  });

  it.each([
    "http://example.com/userinfo",
    "http://10.0.0.1/userinfo",
    "http://0.0.0.0/userinfo",
    "http://[::]/userinfo",
    "http://[::ffff:127.0.0.1]/userinfo",
    "http://localhost.example.com/userinfo",
    "http://127.0.0.1.example.com/userinfo",
    "http://example.com#localhost",
    "ftp://localhost/userinfo",
    "file:///etc/passwd",
    'data:application/json,{"sub":"ada"}',
    "blob:https://example.com/1",
    "https://ada:secret@example.com/userinfo",
    "http://ada@localhost/userinfo",
    "/userinfo",
    "example.com/userinfo",
    "https://",
    "",
  ])("throws a TypeError for the endpoint %j, and sends no request", async (endpoint) => {
    const spy = vi.spyOn(globalThis, "fetch");
    const error = await errorOf(oidc_userinfo(endpoint, TOKEN));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(/^oidc_userinfo: the endpoint must /);
    expect(error.message).not.toContain("secret");
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  });

  it.each([undefined, null, 42, {}, [], ["https://example.com"], { href: "https://example.com" }])(
    "throws a TypeError for the endpoint %j",
    async (endpoint) => {
      expect(await errorOf(Reflect.apply(oidc_userinfo, null, [endpoint, TOKEN]))).toBeInstanceOf(TypeError);
    },
  );

  it.each([undefined, null, 42, {}, [TOKEN], Buffer.from(TOKEN)])(
    "throws a TypeError for the token %j",
    async (token) => {
      const url = "http://127.0.0.1:1/userinfo";
      expect(await errorOf(Reflect.apply(oidc_userinfo, null, [url, token]))).toBeInstanceOf(TypeError);
    },
  );

  // Vitest shortens a value in a title if the title refers to it by a name.
  const malformedTokens = ["", " ", "=", "a b", "a\r\nx: y", "a\0", "tökén", "a=b", '"a"', "a,b", "x".repeat(16_385)];
  it.each(malformedTokens.map((token) => ({ token })))(
    "throws a ValueError for the malformed token $token",
    async ({ token }) => {
      const error = await errorOf(oidc_userinfo("http://127.0.0.1:1/userinfo", token));
      expect(error).toBeInstanceOf(ValueError);
      expect(error.message).toBe("The access token is malformed.");
    },
  );

  it.each([{ token: "x" }, { token: "x".repeat(8000) }, { token: TOKEN }])(
    "sends the token $token unchanged",
    async ({ token }) => {
      const url = await serve((request, response) => {
        json(JSON.stringify({ sub: request.headers.authorization?.slice("Bearer ".length) }))(request, response);
      });
      expect(await oidc_userinfo(url, token)).toEqual({ sub: token });
    },
  );

  it("sends a token of 16,384 characters", async () => {
    // Node's server refuses such a large header with 431, so the request was sent.
    const url = await serve(json('{"sub":"ada"}'));
    expect((await errorOf(oidc_userinfo(url, "x".repeat(16_384)))).cause).toMatchObject({
      message: "the provider responded with 431",
    });
  });

  it.each([401, 403])("throws unauthenticated if the provider responds with %i", async (status) => {
    const url = await serve(json('{"error":"invalid_token"}', {}, status));
    expect(await errorOf(oidc_userinfo(url, TOKEN))).toMatchObject({ code: "unauthenticated" });
  });

  it.each([301, 302, 303, 307, 308])("does not follow a redirect with status %i", async (status) => {
    let redirectedRequests = 0;
    const elsewhere = await serve((request, response) => {
      redirectedRequests++;
      json('{"sub":"mallory"}')(request, response);
    });
    const url = await serve(json("", { location: elsewhere }, status));
    const error = await errorOf(oidc_userinfo(url, TOKEN));
    expect(String(error.cause)).toContain(`the provider responded with ${status}, a redirect`);
    expect(redirectedRequests).toBe(0);
  });

  it.each([
    ["another status", json('{"sub":"ada"}', {}, 500), "responded with 500"],
    ["a status without a body", json("", {}, 204), "responded with 204"],
    ["HTML", json("<p>Sign in</p>", { "content-type": "text/html" }), "responded with text/html instead"],
    [
      "a signed profile",
      json("e30.e30.e30", { "content-type": "application/jwt" }),
      "responded with application/jwt instead",
    ],
    ["no content type", (_request, response) => void response.end('{"sub":"ada"}'), "responded with no content type"],
    ["invalid JSON", json('{"sub":"ada"'), "SyntaxError"],
    ["an empty body", json(""), "SyntaxError"],
    ["an array", json('[{"sub":"ada"}]'), "has no sub"],
    ["null", json("null"), "not a JSON object"],
    ["a string", json('"ada"'), "not a JSON object"],
    ["no sub", json('{"name":"Ada"}'), "has no sub"],
    ["an empty sub", json('{"sub":""}'), "has no sub"],
    ["a number for sub", json('{"sub":1}'), "has no sub"],
    ["invalid UTF-8", json(Buffer.from('{"sub":"\xe4"}', "latin1")), "TypeError"],
  ] as [string, RequestListener, string][])(
    "throws a plain Error for %s, whose message is not sent to callers",
    async (_what, listener, cause) => {
      const error = await errorOf(oidc_userinfo(await serve(listener), TOKEN));
      expect(error.constructor).toBe(Error);
      expect(error.message).toMatch(/^oidc_userinfo: http:\/\/127\.0\.0\.1:\d+ returned no profile$/);
      expect(String(error.cause)).toContain(cause);
      expect(`${error.stack}${error.cause}`).not.toContain(TOKEN);
    },
  );

  it("accepts a content type with parameters, in any case", async () => {
    const url = await serve(json('{"sub":"ada"}', { "content-type": "Application/JSON; charset=utf-8" }));
    expect(await oidc_userinfo(url, TOKEN)).toEqual({ sub: "ada" });
  });

  it("throws a plain Error if the provider is unreachable, over http and https", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // a TCP server has a port
    await once(server.close(), "close");
    for (const scheme of ["http", "https"]) {
      const error = await errorOf(oidc_userinfo(`${scheme}://127.0.0.1:${port}/userinfo`, TOKEN));
      expect(error.constructor).toBe(Error);
      expect(String(error.cause)).toContain("fetch failed");
    }
  });

  const profileOf = (bytes: number) =>
    JSON.stringify({ sub: "ada", x: "" }).replace('""', `"${"x".repeat(bytes - 20)}"`);

  it.each([
    ["plain", {}, (text: string) => text],
    ["compressed", { "content-encoding": "gzip" }, (text: string) => gzipSync(text)],
  ] as const)("accepts a response of 1 MiB, %s, and not a byte more", async (_encoding, headers, encode) => {
    const MIB = 1024 * 1024;
    expect(profileOf(MIB)).toHaveLength(MIB);
    for (const size of [MIB - 1, MIB]) {
      expect(await oidc_userinfo(await serve(json(encode(profileOf(size)), headers)), TOKEN)).toMatchObject({
        sub: "ada",
      });
    }
    const error = await errorOf(oidc_userinfo(await serve(json(encode(profileOf(MIB + 1)), headers)), TOKEN));
    expect(String(error.cause)).toContain("the response is larger than 1048576 bytes");
  });

  it("closes the connection when a response does not end", async () => {
    let closed: Promise<unknown> | undefined;
    const url = await serve((_request, response) => {
      closed = once(response, "close");
      response.writeHead(200, { "content-type": "application/json" });
      const write = () => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", write);
      write();
    });
    const error = await errorOf(oidc_userinfo(url, TOKEN));
    expect(String(error.cause)).toContain("larger than 1048576 bytes");
    await closed;
  });

  it.each([
    ["does not respond", () => {}],
    [
      "sends only the headers",
      (response) => response.writeHead(200, { "content-type": "application/json" }).flushHeaders(),
    ],
    [
      "stops in the middle of the body",
      (response) => response.writeHead(200, { "content-type": "application/json" }).write('{"su'),
    ],
  ] as [string, (response: Parameters<RequestListener>[1]) => void][])(
    "throws timeout after 10 seconds if the provider %s, and closes the connection",
    async (_what, startResponse) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const events = new EventEmitter();
      const url = await serve((_request, response) => {
        startResponse(response);
        response.on("close", () => events.emit("closed"));
        events.emit("requested");
      });
      const [requested, closed] = [once(events, "requested"), once(events, "closed")];
      let ended = false;
      const error = errorOf(oidc_userinfo(url, TOKEN)).finally(() => {
        ended = true;
      });
      await requested;
      vi.advanceTimersByTime(9_999);
      await new Promise((resolve) => setImmediate(resolve));
      expect(ended).toBe(false);
      vi.advanceTimersByTime(1);
      expect(await error).toMatchObject({ code: "timeout", message: "The identity provider did not respond in time." });
      await closed;
    },
  );

  it("clears its timer after a response and after an error", async () => {
    const [set, clear] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
    await oidc_userinfo(await serve(json('{"sub":"ada"}')), TOKEN);
    await errorOf(oidc_userinfo(await serve(json("", {}, 500)), TOKEN));
    const timers = set.mock.results.filter((_result, at) => set.mock.calls[at]?.[1] === 10_000);
    expect(timers).toHaveLength(2);
    for (const { value } of timers) expect(clear).toHaveBeenCalledWith(value);
    set.mockRestore();
    clear.mockRestore();
  });
});
