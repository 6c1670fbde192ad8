import { spawnSync } from "node:child_process";
import { afterEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledPage, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import { createFaultyBus } from "#test/faulty-bus";
import { issueFeed, liveFunctions, poll, requestLive } from "#test/live-client";
import { recordedLog } from "#test/recorded-log";
import type { App, AppOptions } from "../app.ts";
import { ConfigError } from "../config/index.ts";
import { publish } from "../live/index.ts";
import { internalsOf, realtime } from "../server/index.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const apps: App[] = [];
afterEach(async () => {
  vi.doUnmock("prom-client");
  vi.resetModules();
  for (const app of apps.splice(0)) await app.close();
});

function metricsApp(env: Readonly<Record<string, string>> = {}, options: Partial<AppOptions> = {}) {
  const { log, lines } = recordedLog();
  const app = createTestApp(
    {
      ...liveFunctions,
      add: compiledServer("add", (a: number) => a + 1, { params: { a: "int" } }),
      say: compiledServer("say", () => publish("room", "hello")),
      numbers: compiledServer(
        "numbers",
        function* () {
          for (let n = 0; ; n++) yield n;
        },
        { stream: true },
      ),
      user: compiledPage("/users/:id", () => null),
    },
    {
      log,
      env: { WEB_AUTH_SECRET: "5a".repeat(32), WEB_METRICS_PATH: "/metrics", WEB_METRICS_TOKEN: TOKEN, ...env },
      ...options,
    },
  );
  apps.push(app);
  return { app, lines };
}

const fetchMetrics = (app: App, headers: Readonly<Record<string, string>> = { authorization: `Bearer ${TOKEN}` }) =>
  getPage(app, "/metrics", { headers });

/** Returns the values of the metrics by their names and labels. */
async function read(app: App): Promise<Record<string, number>> {
  const response = await fetchMetrics(app);
  expect(response.status).toBe(200);
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
}

describe("the metrics", () => {
  it.each([
    [{}],
    [{ authorization: "" }],
    [{ authorization: TOKEN }],
    [{ authorization: `Bearer ${TOKEN.slice(1)}` }],
    [{ authorization: `Bearer ${TOKEN}x` }],
    [{ authorization: `Basic ${btoa(`a:${TOKEN}`)}` }],
  ])("require the token: %j", async (headers) => {
    const { app } = metricsApp();
    await app.start();
    const response = await fetchMetrics(app, headers);
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await response.text()).not.toContain("tsweb_");
  });

  it("are not served without a variable for them, nor at the path of the application if they have a port", async () => {
    for (const env of [{ WEB_METRICS_PATH: "", WEB_METRICS_TOKEN: "" }, { WEB_METRICS_PORT: "9100" }]) {
      expect((await fetchMetrics(metricsApp(env).app)).status).toBe(404);
    }
  });

  it("are served at /metrics if only the token is set", async () => {
    const { app } = metricsApp({ WEB_METRICS_PATH: "" });
    await app.start();
    expect((await fetchMetrics(app, {})).status).toBe(401);
    expect((await fetchMetrics(app)).status).toBe(200);
  });

  it("are not served to everybody: a token or a port is required", () => {
    expect(() => metricsApp({ WEB_METRICS_TOKEN: "" })).toThrow(
      "WEB_METRICS_PATH is set, but neither WEB_METRICS_TOKEN nor WEB_METRICS_PORT is",
    );
    expect(() => metricsApp({ WEB_METRICS_TOKEN: "hunter2" })).toThrow(
      /^(?!.*hunter2)[\s\S]*WEB_METRICS_TOKEN is not a token/,
    );
  });

  it("allow GET and HEAD, also where `before` refuses everything", async () => {
    const { app } = metricsApp({}, { before: () => new Response(null, { status: 403 }) });
    await app.start();
    const headers = { authorization: `Bearer ${TOKEN}` };
    const head = await getPage(app, "/metrics", { method: "HEAD", headers });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const post = await getPage(app, "/metrics", { method: "POST", headers, body: "a" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("count requests by kind, name and status, and their durations", async () => {
    const { app } = metricsApp();
    await app.start();
    for (let a = 0; a < 3; a++) await callOverHttp(app, "add", { a });
    await callOverHttp(app, "add", { a: "x" });
    await getPage(app, "/users/7");
    await getPage(app, "/healthz");
    expect(await read(app)).toMatchObject({
      'tsweb_requests_total{kind="call",name="add",status="200"}': 3,
      'tsweb_requests_total{kind="call",name="add",status="422"}': 1,
      'tsweb_requests_total{kind="page",name="/users/:id",status="200"}': 1,
      'tsweb_request_duration_seconds_count{kind="call",name="add"}': 4,
      'tsweb_request_duration_seconds_bucket{le="+Inf",kind="call",name="add"}': 4,
    });
  });

  it("have no more lines after requests of 200 unknown paths and functions than after one", async () => {
    const { app } = metricsApp({}, { rate: false });
    await app.start();
    const send = async (n: number) => {
      await getPage(app, `/nothing/${n}?${n}`);
      await callOverHttp(app, `nothing${n}`);
      await getPage(app, `/users/${n}`);
      await getPage(app, `/%zz${n}`);
    };
    await send(0);
    const before = Object.keys(await read(app));
    for (let n = 1; n <= 200; n++) await send(n);
    expect(Object.keys(await read(app))).toEqual(before);
  });

  it("have the longest delay of the event loop in the last minute, measured from the start on", async () => {
    const { app } = metricsApp();
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    await app.start();
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 3_000);
    vi.advanceTimersByTime(15_000);
    expect(await read(app)).toMatchObject({ tsweb_event_loop_delay_seconds: 3 });
    clock.mockRestore();
    vi.useRealTimers();
  });

  it("count refusals by reason, each of them", async () => {
    const { app } = metricsApp();
    await app.start();
    for (let times = 0; times < 5; times++)
      await callOverHttp(app, "add", {}, { headers: { origin: "https://evil.example" } });
    await callOverHttp(app, "add", {}, { headers: { "content-length": "99999999" } });
    expect(await read(app)).toMatchObject({
      'tsweb_refusals_total{reason="origin"}': 5,
      'tsweb_refusals_total{reason="size"}': 1,
    });
  });

  it("have the open streams and live connections, and the messages", async () => {
    const { app } = metricsApp();
    await app.start();
    const feed = await issueFeed(app, "room");
    const expired = await issueFeed(app, "room", {}, { ttl: 1 });
    const stream = await callOverHttp(app, "numbers");
    const live = await requestLive(app, "live", [feed]);
    const events = live.body?.getReader();
    await events?.read();
    await callOverHttp(app, "say");
    expect((await poll(app, [feed])).events).toHaveLength(1);
    await expect.poll(async () => (await poll(app, [expired])).gaps.length).toBe(1);
    const reading = (async () => {
      while (!(await events?.read())?.done);
    })();
    await expect
      .poll(() => read(app))
      .toMatchObject({
        tsweb_open_streams: 1,
        tsweb_live_connections: 1,
        tsweb_messages_published_total: 1,
        'tsweb_gaps_total{reason="expired"}': 1,
        'tsweb_gaps_total{reason="trimmed"}': 0,
      });
    await expect.poll(async () => (await read(app)).tsweb_messages_delivered_total).toBeGreaterThanOrEqual(2);
    await stream.body?.cancel();
    await app.close();
    await reading;
    expect(await read(app)).toMatchObject({ tsweb_open_streams: 0, tsweb_live_connections: 0 });
  });

  it("count a stream that has started before the metrics were loaded as open until its end", async () => {
    const { app } = metricsApp(); // not started, as in a server of the application's own
    const stream = await callOverHttp(app, "numbers");
    expect(await read(app)).toMatchObject({ tsweb_open_streams: 1 });
    await stream.body?.cancel();
    await expect.poll(() => read(app)).toMatchObject({ tsweb_open_streams: 0 });
  });

  it("show whether the bus is reachable", async () => {
    const bus = Object.assign(createFaultyBus(), { isReachable: true });
    realtime.use_bus(bus);
    const { app } = metricsApp();
    await app.start();
    expect(await read(app)).toMatchObject({ tsweb_bus_connected: 1 });
    bus.isReachable = false;
    expect(await read(app)).toMatchObject({ tsweb_bus_connected: 0 });
  });

  it("count the messages that could not be published", async () => {
    const bus = createFaultyBus();
    realtime.use_bus(bus);
    const { app } = metricsApp();
    await app.start();
    await callOverHttp(app, "say");
    expect(await read(app)).toMatchObject({ tsweb_messages_published_total: 1, tsweb_publish_failures_total: 0 });
    bus.isUnreachable = true;
    for (let times = 0; times < 2; times++) expect((await callOverHttp(app, "say")).status).toBe(500);
    expect(await read(app)).toMatchObject({ tsweb_messages_published_total: 1, tsweb_publish_failures_total: 2 });
  });

  it("follow the format and the naming rules of Prometheus", async () => {
    const { app } = metricsApp();
    await app.start();
    await callOverHttp(app, "add", { a: 1 });
    const response = await fetchMetrics(app);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await response.text();
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type]) => [name, type]));
    expect([...text.matchAll(/^# HELP (\S+) \S.*\.$/gm)].map(([, name]) => name)).toEqual([...types.keys()]);
    expect(types.size).toBeGreaterThan(12);
    for (const [name, type] of types) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(name.endsWith("_total"), name).toBe(type === "counter");
      expect(name).not.toMatch(/_(count|sum|bucket|ms|milliseconds|kilobytes)$/);
    }
    for (const line of text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))) {
      const [, name = ""] = /^([a-z0-9_]+)(?:\{(?:[a-z_]+="[^"\\]*",?)+\})? \S+$/.exec(line) ?? [];
      expect(types.has(name) || types.get(name.replace(/_(count|sum|bucket)$/, "")) === "histogram", line).toBe(true);
    }
  });

  // promtool is in a package of 96 MB: npm run matrix -- metrics installs it.
  if (process.env.TSWEB_TEST_MATRIX === "1") {
    it("pass promtool check metrics", async () => {
      const { app } = metricsApp();
      await app.start();
      await callOverHttp(app, "add", { a: 1 });
      await callOverHttp(app, "add", {}, { headers: { origin: "https://evil.example" } });
      const input = await (await fetchMetrics(app)).text();
      const { status, stdout, stderr, error } = spawnSync("promtool", ["check", "metrics"], {
        input,
        encoding: "utf8",
      });
      expect([error, status, stdout, stderr]).toEqual([undefined, 0, "", ""]);
    });
  }

  it.each([
    ["WEB_METRICS_TOKEN", { WEB_METRICS_PATH: "" }],
    ["WEB_METRICS_PORT", { WEB_METRICS_PATH: "", WEB_METRICS_PORT: "0" }],
  ])(
    "let the start fail with %s and the command that installs prom-client, if it is missing",
    async (variable, env) => {
      vi.doMock("prom-client", () => {
        throw new Error("Cannot find package 'prom-client'");
      });
      const { app } = metricsApp(env);
      const error = await app.start().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConfigError);
      await expect(internalsOf(app)?.checkPackages()).rejects.toThrow(String(Object(error).message));
      expect(String(error)).toContain(`${variable} is set, but the package prom-client could not be loaded`);
      expect(String(error)).toContain("npm install prom-client");
      expect((await getPage(app, "/readyz")).status).toBe(503);
    },
  );
});
