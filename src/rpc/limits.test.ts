import { describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";

async function errorOf(response: Response): Promise<{ code: string; message: string; details: object }> {
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

  it("refuses call 121 for 61 seconds, of which the span is 60 and a bucket 1 [REQUEST-57]", async () => {
    const now = vi.spyOn(performance, "now").mockReturnValue(600_000); // the start of a bucket
    const app = createTestApp({ ping });
    for (let i = 0; i < 120; i++) expect((await callOverHttp(app, "ping")).status).toBe(200);
    const errorAfter = async (ms: number) => {
      now.mockReturnValue(600_000 + ms);
      const response = await callOverHttp(app, "ping");
      return { retryAfter: response.headers.get("retry-after"), ...(await errorOf(response)) };
    };
    expect(await errorAfter(0)).toEqual({
      retryAfter: "61",
      code: "rate_limited",
      message: "Too many calls. Try again in 61 seconds.",
      details: { retry_after: 61 },
    });
    expect(await errorAfter(59_999)).toMatchObject({ retryAfter: "2" });
    expect(await errorAfter(60_999)).toMatchObject({
      retryAfter: "1",
      message: "Too many calls. Try again in 1 second.",
    });
    now.mockReturnValue(600_000 + 61_000);
    expect((await callOverHttp(app, "ping")).status).toBe(200);
    now.mockRestore();
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
    { calls: 1, seconds: 1 },
    { calls: 1, seconds: 31_536_000 },
    { calls: Number.MAX_SAFE_INTEGER, seconds: 1.5 },
  ])("can be %j", async (rate) => {
    expect((await callOverHttp(createTestApp({ ping }, { rate }), "ping")).status).toBe(200);
  });

  it.each([
    { calls: 0, seconds: 60 },
    { calls: 1.5, seconds: 60 },
    { calls: 1, seconds: 0 },
    { calls: Number.NaN, seconds: 60 },
    { calls: 1, seconds: 0.999 },
    { calls: 1, seconds: 31_536_001 },
    { calls: 1, seconds: Number.NaN },
    { calls: 1, seconds: Number.POSITIVE_INFINITY },
  ])("is rejected if invalid: %j", (rate) => {
    expect(() => createTestApp({ ping }, { rate })).toThrow(RangeError);
  });
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
  it("is 30 seconds [REQUEST-11]", async () => {
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

  it("is 100 by default, and a stream that ends no longer counts [REQUEST-62]", async () => {
    const many = app();
    const opened = [];
    for (let i = 0; i < 100; i++) opened.push(await callOverHttp(many, "forever"));
    expect(opened.every(({ status }) => status === 200)).toBe(true);
    const rejected = await callOverHttp(many, "forever");
    expect(rejected.status).toBe(429);
    expect(rejected.headers.get("content-type")).toBe("application/json");
    expect(rejected.headers.get("retry-after")).toBe("5");
    expect(await errorOf(rejected)).toMatchObject({
      code: "rate_limited",
      message: expect.stringMatching(/100/),
      details: { retry_after: 5 },
    });
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
