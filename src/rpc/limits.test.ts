import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { RPCError, request, session } from "../index.ts";

const CSRF = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_CSRF_SECRET: "3c".repeat(32) };

/** Returns the cookie and the CSRF token of a response, as the next request sends them. */
function credentialsOf(response: Response): { cookie: string; token: string | null } {
  const cookie = response.headers.getSetCookie().map((line) => line.split(";")[0]);
  return { cookie: cookie.join("; "), token: response.headers.get("x-csrf-token") };
}

async function errorOf(response: Response): Promise<{ code: string; message: string }> {
  return (await response.json()).error;
}

describe("the rate limit of calls", () => {
  const ping = compiledServer("ping", () => "pong");

  it("is 120 calls a minute by default, counted by client, for known and unknown functions", async () => {
    const app = createTestApp({ ping });
    const from = (address: string) => (name: string) =>
      app.fetch(
        new Request(`http://shop.example/__web/rpc/${name}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: '{"args":{}}',
        }),
        { address },
      );
    const one = from("10.0.0.1");
    for (let i = 0; i < 119; i++) expect((await one("ping")).status).toBe(200);
    expect((await one("nothing")).status).toBe(404);
    const rejected = await one("ping");
    expect(rejected.status).toBe(429);
    expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(rejected.headers.get("connection")).toBe("close");
    expect(await errorOf(rejected)).toMatchObject({ code: "rate_limited" });
    expect((await from("10.0.0.2")("ping")).status).toBe(200);
  });

  it("can be changed and switched off", async () => {
    const three = createTestApp({ ping }, { rate: { calls: 3, seconds: 60 } });
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await callOverHttp(three, "ping")).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const any = createTestApp({ ping }, { rate: false });
    for (let i = 0; i < 130; i++) expect((await callOverHttp(any, "ping")).status).toBe(200);
  });

  it.each([
    { calls: 0, seconds: 60 },
    { calls: 1.5, seconds: 60 },
    { calls: 1, seconds: 0 },
    { calls: Number.NaN, seconds: 60 },
    { calls: 1, seconds: Number.POSITIVE_INFINITY },
  ])("is rejected if invalid: %j", (rate) => {
    expect(() => createTestApp({ ping }, { rate })).toThrow(RangeError);
  });
});

describe("rpc_timeout", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Returns a function that never returns, its request.signal, and a function that makes it reject. */
  function stuck(options = {}) {
    const seen: { signal?: AbortSignal; fail?: (error: Error) => void } = {};
    const wait = compiledServer(
      "wait",
      () => {
        seen.signal = request.signal;
        return new Promise<string>((_, reject) => {
          seen.fail = reject;
        });
      },
      { options },
    );
    return { wait, seen };
  }

  it("responds with 504 when it is exceeded and not before, and aborts request.signal", async () => {
    const { wait, seen } = stuck({ rpc_timeout: 2 });
    let hasResponse = false;
    const pending = callOverHttp(createTestApp({ wait }), "wait").finally(() => {
      hasResponse = true;
    });
    await vi.advanceTimersByTimeAsync(1999);
    expect(hasResponse).toBe(false);
    expect(seen.signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const response = await pending;
    expect(response.status).toBe(504);
    expect(await errorOf(response)).toMatchObject({ code: "timeout" });
    expect(seen.signal?.aborted).toBe(true);
  });

  it("ignores an error that a function throws after its time limit", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const { wait, seen } = stuck({ rpc_timeout: 1 });
    const pending = callOverHttp(createTestApp({ wait }), "wait");
    await vi.advanceTimersByTimeAsync(1000);
    await pending;
    seen.fail?.(new Error("late"));
    vi.useRealTimers();
    // Node reports unhandled rejections after the microtask queue is empty.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it("is that of the function, or else that of the application", async () => {
    const withOwnLimit = stuck({ rpc_timeout: 5 }).wait;
    const { wait } = stuck();
    const app = createTestApp({ wait }, { rpc_timeout: 1 });
    const first = callOverHttp(app, "wait");
    const second = callOverHttp(createTestApp({ wait: withOwnLimit }, { rpc_timeout: 1 }), "wait");
    let hasResponse = false;
    second.finally(() => {
      hasResponse = true;
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect((await first).status).toBe(504);
    expect(hasResponse).toBe(false);
    await vi.advanceTimersByTimeAsync(4000);
    expect((await second).status).toBe(504);
  });

  it("leaves no timer after a call and does not apply to streams", async () => {
    const quick = compiledServer("quick", () => 1, { options: { rpc_timeout: 60 } });
    const slow = compiledServer(
      "slow",
      async function* () {
        await new Promise((resolve) => setTimeout(resolve, 120_000));
        yield 1;
      },
      { stream: true, options: { rpc_timeout: 1 } },
    );
    const app = createTestApp({ quick, slow }, { rpc_timeout: 1 });
    expect((await callOverHttp(app, "quick")).status).toBe(200);
    expect(vi.getTimerCount()).toBe(0);
    const stream = callOverHttp(app, "slow");
    await vi.advanceTimersByTimeAsync(120_000);
    expect(await (await stream).text()).toBe('{"chunk":1}\n{"done":true}\n');
  });

  it("rejects a cookie of a function whose response was sent", async () => {
    let late: unknown;
    const wait = compiledServer(
      "wait",
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 2000));
        try {
          session.login("ada");
        } catch (error) {
          late = error;
        }
      },
      { options: { rpc_timeout: 1 } },
    );
    const pending = callOverHttp(createTestApp({ wait }), "wait");
    await vi.advanceTimersByTimeAsync(2000);
    expect((await pending).headers.getSetCookie()).toEqual([]);
    expect(late).toMatchObject({ message: expect.stringContaining("cannot be set") });
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2_147_484, "1"])(
    "is rejected if invalid: %j",
    (rpc_timeout) => {
      const options = { rpc_timeout: rpc_timeout as number };
      expect(() => stuck(options)).toThrow(RangeError);
      expect(() => createTestApp({ wait: stuck().wait }, options)).toThrow(RangeError);
    },
  );
});

describe("the options of server()", () => {
  it.each([{ auth_requird: true }, { auth_required: "yes" }, { rpcTimeout: 1 }])(
    "are rejected if invalid: %j",
    (options) => {
      expect(() => compiledServer("f", () => 1, { options: options as object })).toThrow(TypeError);
    },
  );
});

describe("the time limit of a call's body", () => {
  it("is 30 seconds", async () => {
    vi.useFakeTimers();
    const ping = compiledServer("ping", () => "pong");
    const never = new ReadableStream<Uint8Array>();
    const pending = callOverHttp(createTestApp({ ping }), "ping", {}, { body: never });
    await vi.advanceTimersByTimeAsync(30_000);
    vi.useRealTimers();
    const response = await pending;
    expect(response.status).toBe(408);
    expect(response.headers.get("connection")).toBe("close");
    expect(await errorOf(response)).toMatchObject({ code: "validation_error" });
  });
});

describe("the CSRF token of a call", () => {
  const functions = {
    enter: compiledServer("enter", (who: string) => session.login(who), { params: { who: "any" } }),
    leave: compiledServer("leave", () => session.logout()),
    spend: compiledServer("spend", () => session.user()?.sub, { options: { auth_required: true } }),
    open: compiledServer("open", () => "anyone"),
  };
  const site = () => createTestApp(functions, { env: CSRF });

  it("is required by functions with auth_required only", async () => {
    const app = site();
    expect((await callOverHttp(app, "open")).status).toBe(200);
    expect((await callOverHttp(app, "spend")).status).toBe(401);
    const { cookie } = credentialsOf(await callOverHttp(app, "enter", { who: "ada" }));
    const rejected = await callOverHttp(app, "spend", {}, { headers: { cookie } });
    expect(rejected.status).toBe(403);
    expect(await errorOf(rejected)).toMatchObject({ code: "forbidden" });
    expect((await callOverHttp(app, "open", {}, { headers: { cookie } })).status).toBe(200);
  });

  it("is in the response that signs in, and is valid without loading a page", async () => {
    const app = site();
    const { cookie, token } = credentialsOf(await callOverHttp(app, "enter", { who: "ada" }));
    const headers = { cookie, "x-csrf-token": token ?? "" };
    const spent = await callOverHttp(app, "spend", {}, { headers });
    expect(await spent.json()).toEqual({ result: "ada" });
    expect(spent.headers.has("x-csrf-token")).toBe(false);
    const left = await callOverHttp(app, "leave", {}, { headers });
    expect(credentialsOf(left).token).not.toBe(token);
    expect(credentialsOf(left).token).not.toBeNull();
  });

  it("is rejected if it belongs to an earlier sign-in (another tab), and the response has a valid one", async () => {
    const app = site();
    const first = credentialsOf(await callOverHttp(app, "enter", { who: "ada" }));
    const second = credentialsOf(await callOverHttp(app, "enter", { who: "ada" }));
    const headers = { cookie: second.cookie, "x-csrf-token": first.token ?? "" };
    const rejected = await callOverHttp(app, "spend", {}, { headers });
    expect(rejected.status).toBe(403);
    const fresh = rejected.headers.get("x-csrf-token") ?? "";
    expect((await callOverHttp(app, "spend", {}, { headers: { ...headers, "x-csrf-token": fresh } })).status).toBe(200);
  });

  it("is also in an error response of a call that signed in", async () => {
    const both = compiledServer("both", () => {
      session.login("ada");
      throw new Error("after");
    });
    expect(credentialsOf(await callOverHttp(createTestApp({ both }, { env: CSRF }), "both")).token).not.toBeNull();
  });

  it("is not in a 403 response of the function itself, because clients would repeat the call", async () => {
    const both = compiledServer("both", () => {
      session.login("ada");
      throw new RPCError("forbidden", "Not you.");
    });
    expect(credentialsOf(await callOverHttp(createTestApp({ both }, { env: CSRF }), "both")).token).toBeNull();
  });

  it("is neither required nor sent without WEB_CSRF_SECRET", async () => {
    const app = createTestApp(functions);
    const entered = await callOverHttp(app, "enter", { who: "ada" });
    expect(credentialsOf(entered).token).toBeNull();
    expect((await callOverHttp(app, "spend", {}, { headers: { cookie: credentialsOf(entered).cookie } })).status).toBe(
      200,
    );
  });
});

describe("the limit of open streams of a client", () => {
  const forever = compiledServer(
    "forever",
    function* () {
      for (;;) yield "more";
    },
    { stream: true },
  );
  const waiting = compiledServer(
    "waiting",
    async function* () {
      await new Promise(() => {}); // never resolves, so `return()` has no effect
      yield 1;
    },
    { stream: true },
  );
  const app = (maxStreams?: number) =>
    createTestApp(
      { forever, waiting },
      { rate: false, env: maxStreams ? { WEB_MAX_STREAMS_PER_CLIENT: String(maxStreams) } : {} },
    );

  it("is 100 by default, and a stream that ends no longer counts", async () => {
    const many = app();
    const opened = [];
    for (let i = 0; i < 100; i++) opened.push(await callOverHttp(many, "forever"));
    expect(opened.every(({ status }) => status === 200)).toBe(true);
    const rejected = await callOverHttp(many, "forever");
    expect(rejected.status).toBe(429);
    expect(rejected.headers.get("content-type")).toBe("application/json");
    expect(await errorOf(rejected)).toMatchObject({ code: "rate_limited", message: expect.stringMatching(/100/) });
    await opened[0]?.body?.cancel();
    expect((await callOverHttp(many, "forever")).status).toBe(200);
    expect((await callOverHttp(many, "forever")).status).toBe(429);
  });

  it("no longer counts a stream whose client disconnects before the first value, even if the function never ends", async () => {
    const one = app(1);
    const client = new AbortController();
    void callOverHttp(one, "waiting", {}, { signal: client.signal });
    while ((await callOverHttp(one, "forever")).status !== 429) await new Promise((later) => setImmediate(later));
    client.abort();
    expect((await callOverHttp(one, "forever")).status).toBe(200);
  });

  it("does not count rejected calls and calls of other functions", async () => {
    const one = app(1);
    for (let i = 0; i < 3; i++) expect((await callOverHttp(one, "forever", { extra: 1 })).status).toBe(422);
    const whole = createTestApp(
      { ping: compiledServer("ping", () => "pong"), forever },
      { env: { WEB_MAX_STREAMS_PER_CLIENT: "1" } },
    );
    expect((await callOverHttp(whole, "forever")).status).toBe(200);
    expect((await callOverHttp(whole, "ping")).status).toBe(200);
  });
});
