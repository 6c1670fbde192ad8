/**
 * oidc_userinfo against a real provider, and against servers that are not what one would wish for.
 */
import { EventEmitter, once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { oidc_userinfo } from "../../src/auth/index.ts";
import { RPCError, ValueError } from "../../src/index.ts";
import { PROFILE, type Running, startProvider } from "./auth-provider.ts";

const TOKEN = "a-token.of~the_tests+/==";

async function errorOf(work: Promise<unknown>): Promise<Error & { readonly code?: string }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("It did not throw an error.");
}

afterEach(() => {
  vi.useRealTimers();
});

describe("oidc_userinfo of a certified provider", () => {
  const TTL_SECONDS = 600;
  let provider: Running;
  beforeAll(async () => {
    provider = await startProvider(TTL_SECONDS);
  });
  afterAll(() => provider.close());

  it("gives the profile, as far as the token's scopes go", async () => {
    expect(await oidc_userinfo(provider.userinfo, await provider.token())).toEqual(PROFILE);
    expect(await oidc_userinfo(new URL(provider.userinfo), await provider.token("openid"))).toEqual({ sub: "ada" });
  });

  it("is unauthenticated for a token that the provider never issued", async () => {
    const error = await errorOf(oidc_userinfo(provider.userinfo, TOKEN));
    expect(error).toBeInstanceOf(RPCError);
    expect(error).toMatchObject({
      code: "unauthenticated",
      message: "The identity provider refused the access token.",
    });
  });

  it("is unauthenticated for a token that was taken back", async () => {
    const token = await provider.token();
    await provider.revoke(token);
    expect(await errorOf(oidc_userinfo(provider.userinfo, token))).toMatchObject({ code: "unauthenticated" });
  });

  it("is unauthenticated for a token that has expired, and not a moment before", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 2) });
    const token = await provider.token();
    vi.setSystemTime(Date.UTC(2026, 0, 2) + (TTL_SECONDS - 1) * 1000);
    expect(await oidc_userinfo(provider.userinfo, token)).toEqual(PROFILE);
    vi.setSystemTime(Date.UTC(2026, 0, 2) + TTL_SECONDS * 1000);
    expect(await errorOf(oidc_userinfo(provider.userinfo, token))).toMatchObject({ code: "unauthenticated" });
  });

  it("is unauthenticated for a token that does not reach to the profile", async () => {
    // Without openid it is OAuth's alone.
    expect(await errorOf(oidc_userinfo(provider.userinfo, await provider.token("profile")))).toMatchObject({
      code: "unauthenticated",
    });
  });
});

describe("oidc_userinfo", () => {
  const servers: Server[] = [];
  /** Starts a server on this machine; gives its address. */
  async function serve(listener: RequestListener, host = "127.0.0.1"): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const { port } = server.address() as AddressInfo; // a TCP server has one
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

  it("sends the token, asks for JSON, and nothing else", async () => {
    const seen: unknown[] = [];
    const url = await serve((request, response) => {
      const { authorization, accept, cookie } = request.headers;
      seen.push(request.method, request.url, authorization, accept, cookie);
      json('{"sub":"ada"}')(request, response);
    });
    expect(await oidc_userinfo(`${url}?schema=openid#part`, TOKEN)).toEqual({ sub: "ada" });
    expect(seen).toEqual(["GET", "/userinfo?schema=openid", `Bearer ${TOKEN}`, "application/json", undefined]);
  });

  it.each(["127.0.0.1", "localhost", "127.0.0.2"])("asks plain http on this machine: %s", async (host) => {
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
  ])("throws a TypeError for the endpoint %j, and asks nobody", async (endpoint) => {
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

  it.each(["", " ", "=", "a b", "a\r\nx: y", "a\0", "tökén", "a=b", '"a"', "a,b", "x".repeat(16_385)])(
    "throws a ValueError for a token that none issues: %j",
    async (token) => {
      const error = await errorOf(oidc_userinfo("http://127.0.0.1:1/userinfo", token));
      expect(error).toBeInstanceOf(ValueError);
      expect(error.message).toBe("The access token is none that a provider issues.");
    },
  );

  it.each(["x", "x".repeat(8000), TOKEN])("sends a token as it is: %s", async (token) => {
    const url = await serve((request, response) => {
      json(JSON.stringify({ sub: request.headers.authorization?.slice("Bearer ".length) }))(request, response);
    });
    expect(await oidc_userinfo(url, token)).toEqual({ sub: token });
  });

  it("takes a token of 16,384 characters to the provider", async () => {
    // Node's own server refuses so long a head: it was asked.
    const url = await serve(json('{"sub":"ada"}'));
    expect((await errorOf(oidc_userinfo(url, "x".repeat(16_384)))).cause).toMatchObject({ message: "it answered 431" });
  });

  it.each([401, 403])("is unauthenticated when the provider answers %i", async (status) => {
    const url = await serve(json('{"error":"invalid_token"}', {}, status));
    expect(await errorOf(oidc_userinfo(url, TOKEN))).toMatchObject({ code: "unauthenticated" });
  });

  it.each([301, 302, 303, 307, 308])("follows no redirect: %i", async (status) => {
    let asked = 0;
    const elsewhere = await serve((request, response) => {
      asked++;
      json('{"sub":"mallory"}')(request, response);
    });
    const url = await serve(json("", { location: elsewhere }, status));
    const error = await errorOf(oidc_userinfo(url, TOKEN));
    expect(String(error.cause)).toContain(`it answered ${status}, a redirect`);
    expect(asked).toBe(0);
  });

  it.each([
    ["another status", json('{"sub":"ada"}', {}, 500), "it answered 500"],
    ["a status without a body", json("", {}, 204), "it answered 204"],
    ["HTML", json("<p>Sign in</p>", { "content-type": "text/html" }), "it answered text/html"],
    ["a signed profile", json("e30.e30.e30", { "content-type": "application/jwt" }), "it answered application/jwt"],
    ["no type", (_request, response) => void response.end('{"sub":"ada"}'), "without a content type"],
    ["no JSON", json('{"sub":"ada"'), "SyntaxError"],
    ["nothing", json(""), "SyntaxError"],
    ["a list", json('[{"sub":"ada"}]'), "has no sub"],
    ["null", json("null"), "not a JSON object"],
    ["a text", json('"ada"'), "not a JSON object"],
    ["no sub", json('{"name":"Ada"}'), "has no sub"],
    ["an empty sub", json('{"sub":""}'), "has no sub"],
    ["a number for sub", json('{"sub":1}'), "has no sub"],
    ["what is not UTF-8", json(Buffer.from('{"sub":"\xe4"}', "latin1")), "TypeError"],
  ] as [string, RequestListener, string][])(
    "throws a plain Error for %s, which callers do not get to see",
    async (_what, listener, cause) => {
      const error = await errorOf(oidc_userinfo(await serve(listener), TOKEN));
      expect(error.constructor).toBe(Error);
      expect(error.message).toMatch(/^oidc_userinfo: http:\/\/127\.0\.0\.1:\d+ gave no profile$/);
      expect(String(error.cause)).toContain(cause);
      expect(`${error.stack}${error.cause}`).not.toContain(TOKEN);
    },
  );

  it("takes a content type with parameters, in any case", async () => {
    const url = await serve(json('{"sub":"ada"}', { "content-type": "Application/JSON; charset=utf-8" }));
    expect(await oidc_userinfo(url, TOKEN)).toEqual({ sub: "ada" });
  });

  it("throws a plain Error where nobody answers, over https too", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // a TCP server has one
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
  ] as const)("takes an answer of 1 MiB, %s, and not a byte more", async (_how, headers, pack) => {
    const MIB = 1024 * 1024;
    expect(profileOf(MIB)).toHaveLength(MIB);
    for (const size of [MIB - 1, MIB]) {
      expect(await oidc_userinfo(await serve(json(pack(profileOf(size)), headers)), TOKEN)).toMatchObject({
        sub: "ada",
      });
    }
    const error = await errorOf(oidc_userinfo(await serve(json(pack(profileOf(MIB + 1)), headers)), TOKEN));
    expect(String(error.cause)).toContain("its answer is over 1048576 bytes");
  });

  it("hangs up on an answer without end", async () => {
    let hungUp: Promise<unknown> | undefined;
    const url = await serve((_request, response) => {
      hungUp = once(response, "close");
      response.writeHead(200, { "content-type": "application/json" });
      const write = () => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", write);
      write();
    });
    const error = await errorOf(oidc_userinfo(url, TOKEN));
    expect(String(error.cause)).toContain("over 1048576 bytes");
    await hungUp;
  });

  it.each([
    ["does not answer", () => {}],
    [
      "sends its head only",
      (response) => response.writeHead(200, { "content-type": "application/json" }).flushHeaders(),
    ],
    [
      "stops in the middle",
      (response) => response.writeHead(200, { "content-type": "application/json" }).write('{"su'),
    ],
  ] as [string, (response: Parameters<RequestListener>[1]) => void][])(
    "is a timeout after ten seconds when the provider %s, and hangs up",
    async (_what, begin) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const asked = new EventEmitter();
      const url = await serve((_request, response) => {
        begin(response);
        response.on("close", () => asked.emit("hung up"));
        asked.emit("asked");
      });
      const [isAsked, hasHungUp] = [once(asked, "asked"), once(asked, "hung up")];
      let ended = false;
      const error = errorOf(oidc_userinfo(url, TOKEN)).finally(() => {
        ended = true;
      });
      await isAsked;
      vi.advanceTimersByTime(9_999);
      await new Promise((resolve) => setImmediate(resolve));
      expect(ended).toBe(false);
      vi.advanceTimersByTime(1);
      expect(await error).toMatchObject({ code: "timeout", message: "The identity provider did not answer in time." });
      await hasHungUp;
    },
  );

  it("leaves no timer behind", async () => {
    const [set, clear] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
    await oidc_userinfo(await serve(json('{"sub":"ada"}')), TOKEN);
    await errorOf(oidc_userinfo(await serve(json("", {}, 500)), TOKEN));
    const ours = set.mock.results.filter((_result, at) => set.mock.calls[at]?.[1] === 10_000);
    expect(ours).toHaveLength(2);
    for (const { value } of ours) expect(clear).toHaveBeenCalledWith(value);
    set.mockRestore();
    clear.mockRestore();
  });
});
