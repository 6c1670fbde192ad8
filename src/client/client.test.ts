import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import { appOf, compiledServer } from "../../tests/support/compiled.ts";
import { type LocalServer, listen } from "../../tests/support/listen.ts";
import { node } from "../adapters/index.ts";
import { request } from "../http/index.ts";
import { session } from "../session/index.ts";
import { client, RPCError, type Stream } from "./index.ts";

/** What ran on the server, and what it was asked: `GET add`, `POST add`. */
let ran: unknown[][] = [];
let asked: string[] = [];
/** How many streams have ended on the server. */
let ended = 0;
beforeEach(() => {
  ran = [];
  asked = [];
  ended = 0;
});

const add = compiledServer(
  "add",
  (a: number, b: number = 10) => {
    ran.push(["add", a, b]);
    return a + b;
  },
  { params: { a: "int", b: { type: "int", optional: true } } },
);
const order = compiledServer(
  "order",
  ({ item, quantity = 1 }: { item: string; quantity?: number }) => ({
    item,
    quantity,
  }),
  { keyed: true, params: { item: "any", quantity: { type: "int", optional: true } } },
);
const countdown = compiledServer(
  "countdown",
  async function* (from: number) {
    try {
      ran.push(["countdown", from]);
      for (let n = from; n > 0; n--) yield n;
      if (from === 13) throw new RPCError("conflict", "Not thirteen.", { n: 13 });
    } finally {
      ended++;
    }
  },
  { params: { from: "int" }, stream: true },
);
const fail = compiledServer("fail", () => {
  throw new RPCError("conflict", "Taken.", { parameter: "email" });
});
const login = compiledServer("login", (name: string) => session.login(name), { params: { name: "any" } });
const logout = compiledServer("logout", () => session.logout());
const whoami = compiledServer("whoami", () => session.user()?.sub ?? null);
const secret = compiledServer("secret", () => "for members", { options: { auth_required: true } });
const größe = compiledServer("größe", (of: string) => `L of ${of}`, { params: { of: "any" } });
const note = compiledServer("note", (text: string) => void ran.push(["note", text]), { params: { text: "any" } });
const hang = compiledServer("hang", () => new Promise<never>(() => undefined));
const slow = compiledServer(
  "slow",
  async function* () {
    try {
      yield 1;
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    } finally {
      ended++;
    }
  },
  { stream: true },
);
const functions = { add, order, countdown, fail, login, logout, whoami, secret, größe, note, hang, slow };
type Functions = typeof functions & { readonly notAFunction: number };

const env = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_CSRF_SECRET: "7b".repeat(32) };
const app = appOf(functions, { base: "/shop", rate: false, env });

let server: LocalServer;
let base: string;
beforeAll(async () => {
  const handle = node(app);
  server = await listen((request, response) => {
    asked.push(`${request.method} ${decodeURIComponent(request.url?.split("/").at(-1) ?? "")}`);
    handle(request, response);
  });
  base = `${server.address}/shop`;
});
afterAll(() => server.close());

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of stream) values.push(value);
  return values;
}

/** Signs in without a client, and gives the cookie. */
async function cookieOf(name: string): Promise<string> {
  const { headers } = await fetch(`${base}/__web/rpc/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ args: { name } }),
  });
  return headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

function refusal(call: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(call).then(
    (result) => expect.fail(`It gave ${JSON.stringify(result)}.`),
    (error: unknown) => error,
  );
}

describe("a call", () => {
  it("gives the result of a function by position", async () => {
    expect(await client<Functions>(base).add(1, 2)).toBe(3);
    expect(asked).toEqual(["GET add", "POST add"]);
  });

  it("asks for the names of a function once", async () => {
    const api = client<Functions>(`${base}/`);
    expect(await Promise.all([api.add(1), api.add(2, 3), api.add(3)])).toEqual([11, 5, 13]);
    expect(await api.add(4)).toBe(14);
    expect(asked.filter((line) => line.startsWith("GET"))).toEqual(["GET add"]);
  });

  it("by name, or without arguments, asks for nothing", async () => {
    const api = client<Functions>(base);
    expect(await api.add.named({ b: 2, a: 1 })).toBe(3);
    expect(await api.whoami()).toBeNull();
    expect(asked).toEqual(["POST add", "POST whoami"]);
  });

  it("of a keyed function takes one object", async () => {
    const api = client<Functions>(base);
    expect(await api.order({ item: "tea" })).toEqual({ item: "tea", quantity: 1 });
    expect(await api.order.named({ item: "tea", quantity: 2 })).toEqual({ item: "tea", quantity: 2 });
  });

  it("leaves out what is undefined, so that its default is taken", async () => {
    expect(await client<Functions>(base).add(1, undefined)).toBe(11);
  });

  it("finds a function whose name is beyond ASCII", async () => {
    expect(await client<Functions>(base).größe("a shirt")).toBe("L of a shirt");
  });

  it("of too many arguments is refused without being sent", async () => {
    const error = await refusal(Reflect.apply(client<Functions>(base).add, undefined, [1, 2, 3]));
    expect(error).toMatchObject({ code: "validation_error", message: "add takes 2 arguments, not 3" });
    expect(asked).toEqual(["GET add"]);
  });

  it("of an unknown function is not_found, by position and by name", async () => {
    const api = client<{ missing: typeof add }>(base);
    expect(await refusal(api.missing(1))).toMatchObject({ code: "not_found" });
    expect(await refusal(api.missing.named({}))).toMatchObject({ code: "not_found" });
  });

  it("is a promise: catch, finally, all", async () => {
    const api = client<Functions>(base);
    const caught = await api.fail().catch((error: unknown) => error);
    expect(caught).toBeInstanceOf(RPCError);
    const done = vi.fn();
    expect(await api.add(1).finally(done)).toBe(11);
    expect(done).toHaveBeenCalledOnce();
    expect(await api.add(1).then((sum) => sum * 2)).toBe(22);
  });

  it("is sent once, however often it is awaited", async () => {
    const call = client<Functions>(base).add(1, 1);
    expect([await call, await call]).toEqual([2, 2]);
    expect(ran).toHaveLength(1);
  });

  it("is sent also when nobody waits for it", async () => {
    const api = client<Functions>(base);
    void api.note("by position");
    void api.note.named({ text: "by name" });
    await vi.waitFor(() => expect(ran).toHaveLength(2));
    expect(ran).toEqual(
      expect.arrayContaining([
        ["note", "by position"],
        ["note", "by name"],
      ]),
    );
  });

  it("may be awaited long after it was made, and is sent once", async () => {
    const call = client<Functions>(base).note("later");
    await vi.waitFor(() => expect(ran).toHaveLength(1));
    expect(await call).toBeNull();
    expect(ran).toHaveLength(1);
  });
});

describe("an error", () => {
  it("is the function's own: code, message and details", async () => {
    const error = await refusal(client<Functions>(base).fail());
    expect(error).toBeInstanceOf(RPCError);
    expect(error).toMatchObject({ code: "conflict", message: "Taken.", details: { parameter: "email" } });
  });

  it("names the parameter that was refused", async () => {
    const error = await refusal(client<Functions>(base).add.named({ a: "one" }));
    expect(error).toMatchObject({ code: "validation_error", details: { parameter: "a", expected: "int" } });
  });

  it("is internal, with its cause, when the server cannot be reached", async () => {
    const gone = await listen(() => undefined);
    await gone.close();
    const api = client<Functions>(gone.address);
    for (const call of [() => api.whoami(), () => api.add(1)]) {
      const error = await refusal(call());
      expect(error).toBeInstanceOf(RPCError);
      expect(error).toMatchObject({ code: "internal", cause: expect.any(TypeError) });
    }
  });

  it("of learning is asked again at the next call", async () => {
    const down = vi.fn<typeof fetch>().mockRejectedValueOnce(new TypeError("down")).mockImplementation(fetch);
    const api = client<Functions>(base, { fetch: down });
    expect(await refusal(api.add(1))).toMatchObject({ code: "internal" });
    expect(await api.add(1)).toBe(11);
  });

  describe("that was not the application's", () => {
    let proxy: LocalServer;
    let answer: (request: IncomingMessage, response: ServerResponse) => void;
    beforeAll(async () => {
      proxy = await listen((request, response) => answer(request, response));
    });
    afterAll(() => proxy.close());

    it.each([
      [401, "unauthenticated"],
      [403, "forbidden"],
      [404, "not_found"],
      [413, "validation_error"],
      [429, "rate_limited"],
      [502, "internal"],
      [504, "timeout"],
      [200, "internal"],
    ])("is told by its status, %i", async (status, code) => {
      answer = (_, response) => response.writeHead(status, { "content-type": "text/html" }).end("<h1>No</h1>");
      const api = client<Functions>(proxy.address);
      for (const call of [() => api.whoami(), () => api.add(1)]) {
        const error = await refusal(call());
        expect(error).toBeInstanceOf(RPCError);
        expect(error).toMatchObject({ code, message: expect.stringContaining(String(status)) });
      }
      expect(await refusal(collect(api.countdown.named({ from: 1 })))).toMatchObject({ code });
    });

    it("is a redirect, which is not followed: arguments go nowhere else", async () => {
      const bodies: string[] = [];
      answer = (request, response) => {
        bodies.push(request.url ?? "");
        response.writeHead(307, { location: "/elsewhere" }).end();
      };
      const error = await refusal(client<Functions>(proxy.address).login.named({ name: "ada" }));
      expect(error).toMatchObject({ code: "internal", message: expect.stringContaining("307") });
      expect(bodies).toEqual(["/__web/rpc/login"]);
    });

    it("is a 405 that says nothing of parameters: there is no such function", async () => {
      answer = (_, response) => response.writeHead(405).end("No");
      expect(await refusal(client<Functions>(proxy.address).add(1))).toMatchObject({ code: "not_found" });
    });
  });
});

describe("a stream", () => {
  it("gives its values, by position and by name", async () => {
    const api = client<Functions>(base);
    expect(await collect(api.countdown(3))).toEqual([3, 2, 1]);
    expect(await collect(api.countdown.named({ from: "2" }))).toEqual([2, 1]);
    expect(asked).toEqual(["GET countdown", "POST countdown", "POST countdown"]);
  });

  it("sends nothing before its first read, and runs nothing", async () => {
    const api = client<Functions>(base);
    const [byPosition, byName] = [api.countdown(2), api.countdown.named({ from: 1 })];
    // The server has answered something else meanwhile.
    await vi.waitFor(() => expect(asked).toEqual(["GET countdown"]));
    expect(await api.whoami()).toBeNull();
    expect(ran).toEqual([]);
    expect(await collect(byPosition)).toEqual([2, 1]);
    expect(await collect(byName)).toEqual([1]);
  });

  it("throws what the function threw, after the values before", async () => {
    const values: number[] = [];
    const error = await refusal(
      (async () => {
        for await (const n of client<Functions>(base).countdown(13)) values.push(n);
      })(),
    );
    expect(values).toHaveLength(13);
    expect(error).toMatchObject({ code: "conflict", message: "Not thirteen.", details: { n: 13 } });
  });

  it("that is refused throws at its first read", async () => {
    const error = await refusal(collect(client<Functions>(base).countdown.named({ from: "three" })));
    expect(error).toMatchObject({ code: "validation_error", details: { parameter: "from" } });
  });

  it("that is left early ends on the server", async () => {
    for await (const n of client<Functions>(base).slow()) {
      expect(n).toBe(1);
      break;
    }
    await vi.waitFor(() => expect(ended).toBe(1));
  });

  it("that is cancelled ends without an error, here and there", async () => {
    const stream: Stream<number> = client<Functions>(base).slow();
    const values: number[] = [];
    for await (const n of stream) {
      values.push(n);
      stream.cancel();
    }
    expect(values).toEqual([1]);
    await vi.waitFor(() => expect(ended).toBe(1));
  });

  it("that is cancelled before it is read is not sent", async () => {
    const stream = client<Functions>(base).countdown(3);
    stream.cancel();
    expect(await collect(stream)).toEqual([]);
    expect(asked).toEqual([]);
  });

  it("that is cut off on its way is internal, with its cause", async () => {
    const cut = await listen((_, response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write('{"chunk":1}\n', () => response.destroy());
    });
    const values: number[] = [];
    const error = await refusal(
      (async () => {
        for await (const n of client<Functions>(cut.address).countdown.named({ from: 2 })) values.push(n);
      })(),
    );
    expect(values).toEqual([1]);
    expect(error).toBeInstanceOf(RPCError);
    expect(error).toMatchObject({ code: "internal", cause: expect.any(TypeError) });
    await cut.close();
  });

  it("ends with an error when the client's signal does, and ends on the server", async () => {
    const stop = new AbortController();
    const stream = client<Functions>(base, { signal: stop.signal }).slow();
    const reading = stream[Symbol.asyncIterator]();
    expect(await reading.next()).toEqual({ done: false, value: 1 });
    stop.abort();
    expect(await refusal(reading.next())).toMatchObject({ code: "internal" });
    await vi.waitFor(() => expect(ended).toBe(1));
  });

  it("can be read once", async () => {
    const stream = client<Functions>(base).countdown(1);
    await collect(stream);
    await expect(collect(stream)).rejects.toThrow("A stream can be read once");
  });

  it("comes back from an async function", async () => {
    const open = async () => client<Functions>(base).countdown(2);
    expect(await collect(await open())).toEqual([2, 1]);
    expect(ran).toHaveLength(1);
  });

  it("is not what a function of one result gives", async () => {
    // The types know; a caller in JavaScript may not.
    const call = Reflect.apply(client<Functions>(base).whoami, undefined, []) as unknown as Stream<never>;
    expect(await refusal(collect(call))).toMatchObject({
      code: "internal",
      message: expect.stringContaining("await it"),
    });
  });
});

describe("the visitor that a client is", () => {
  it("stays signed in, until it signs out", async () => {
    const api = client<Functions>(base);
    await api.login("ada");
    expect(await api.whoami()).toBe("ada");
    expect(await client<Functions>(base).whoami()).toBeNull();
    await api.logout();
    expect(await api.whoami()).toBeNull();
  });

  it("may begin with a cookie", async () => {
    const api = client<Functions>(base, { headers: { Cookie: await cookieOf("grace") } });
    expect(await api.whoami()).toBe("grace");
    await api.login("ada");
    expect(await api.whoami()).toBe("ada");
  });

  it("takes the CSRF token that comes with a sign-in", async () => {
    const api = client<Functions>(base);
    await api.login.named({ name: "ada" });
    expect(await api.secret()).toBe("for members");
    expect(asked).toEqual(["POST login", "POST secret"]);
  });

  it("takes it from a refusal, tries once more, and keeps it", async () => {
    const api = client<Functions>(base, { headers: { cookie: await cookieOf("ada") } });
    expect(await api.secret()).toBe("for members");
    expect(await api.secret()).toBe("for members");
    expect(asked).toEqual(["POST login", "POST secret", "POST secret", "POST secret"]);
  });

  it("is refused for good when no token helps", async () => {
    const fake = await listen((_, response) => {
      asked.push("POST");
      response.writeHead(403, { "content-type": "application/json", "x-csrf-token": "fresh" });
      response.end('{"error":{"code":"forbidden","message":"No.","details":{}}}');
    });
    expect(await refusal(client<Functions>(fake.address).secret())).toMatchObject({ code: "forbidden" });
    expect(asked).toEqual(["POST", "POST"]);
    await fake.close();
  });
});

describe("options", () => {
  it("headers go with every request", async () => {
    const seen: unknown[] = [];
    const fake = await listen((request, response) => {
      seen.push([request.method, request.headers["x-service"], request.headers["content-type"]]);
      if (request.method === "GET") {
        response
          .writeHead(405)
          .end('{"error":{"code":"validation_error","message":"","details":{"parameters":["a"]}}}');
      } else response.end('{"result":1}');
    });
    const api = client<Functions>(fake.address, { headers: { "X-Service": "billing", "content-type": "text/plain" } });
    expect(await api.add(1)).toBe(1);
    expect(seen).toEqual([
      ["GET", "billing", "text/plain"],
      ["POST", "billing", "application/json"],
    ]);
    await fake.close();
  });

  it("timeout ends a call that takes longer", async () => {
    const error = await refusal(client<Functions>(base, { timeout: 0.05 }).hang());
    expect(error).toMatchObject({ code: "timeout", cause: expect.anything() });
  });

  it("timeout bounds the asking for names, too", async () => {
    const fake = await listen(() => undefined);
    expect(await refusal(client<Functions>(fake.address, { timeout: 0.05 }).add(1))).toMatchObject({ code: "timeout" });
    await fake.close();
  });

  it("timeout does not bound streams", async () => {
    const api = client<Functions>(base, { timeout: 0.02 });
    const stream = api.slow();
    const reading = stream[Symbol.asyncIterator]();
    expect(await reading.next()).toEqual({ done: false, value: 1 });
    const second = reading.next();
    // Another call's time is over meanwhile, and began later.
    expect(await refusal(api.hang())).toMatchObject({ code: "timeout" });
    stream.cancel();
    expect(await second).toEqual({ done: true, value: undefined });
  });

  it("signal ends what is under way, and all that follows", async () => {
    const stop = new AbortController();
    const api = client<Functions>(base, { signal: stop.signal });
    const waiting = refusal(api.hang());
    await vi.waitFor(() => expect(asked).toEqual(["POST hang"]));
    stop.abort();
    const error = await waiting;
    expect(error).toBeInstanceOf(RPCError);
    expect(error).toMatchObject({ code: "internal", message: expect.stringContaining("signal") });
    expect(await refusal(api.whoami())).toMatchObject({ message: expect.stringContaining("signal") });
    expect(asked).toEqual(["POST hang"]);
  });

  it.each([
    "",
    "shop.example",
    "ftp://shop.example",
    "http://a:b@shop.example",
    "http://shop.example/?q",
    "http://x/#y",
  ])("an address such as %j is refused", (address) => {
    expect(() => client(address)).toThrow(TypeError);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("a timeout of %d is refused", (timeout) => {
    expect(() => client(base, { timeout })).toThrow("timeout");
  });
});

describe("a client itself", () => {
  it("can be awaited, written down and asked for symbols without a call", async () => {
    const api = client<Functions>(base);
    expect(await api).toBe(api);
    expect(JSON.stringify(api)).toBe("{}");
    expect(String(Reflect.get(api, Symbol.toPrimitive))).toBe("undefined");
    expect(asked).toEqual([]);
  });

  it("gives the same function each time", () => {
    const api = client<Functions>(base);
    expect(api.add).toBe(api.add);
  });

  it("has the functions of its module, typed, and nothing else", () => {
    const api = client<Functions>(base);
    expectTypeOf(api.add).toEqualTypeOf(add);
    expectTypeOf(api.countdown).returns.toEqualTypeOf<Stream<number>>();
    expectTypeOf(api).not.toHaveProperty("notAFunction");
  });
});
