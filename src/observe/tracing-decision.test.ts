/** Whether requests are traced: it depends on the package and on the SDK, and is decided at the start. */
import { BatchSpanProcessor, InMemorySpanExporter, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { recordedLog } from "#test/recorded-log";
import { registerSdk, unregisterSdk } from "#test/spans";
import type { AppOptions } from "../app.ts";

const MODULE = { ping: compiledServer("ping", () => "pong") };

beforeEach(() => vi.resetModules());
afterEach(() => {
  vi.doUnmock("@opentelemetry/api");
  unregisterSdk();
});

const open = (options: Partial<AppOptions> = {}) => {
  const { log, lines } = recordedLog();
  return { app: createTestApp(MODULE, { log, ...options }), lines };
};

describe("an application", () => {
  it("continues traces without an SDK, and makes no spans", async () => {
    const { app, lines } = open();
    await app.start();
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const headers = { traceparent: `00-${trace}-b7ad6b7169203331-01` };
    const response = await callOverHttp(app, "ping", {}, { headers });
    expect(response.headers.get("traceparent")).toContain(trace);
    expect(lines).toEqual([]);
    await app.close();
  });

  it("is traced without app.start(), and by an SDK that was registered before app.start()", async () => {
    const sdk = registerSdk();
    const mounted = open().app;
    await expect
      .poll(async () => {
        await callOverHttp(mounted, "ping");
        return sdk.spans.length;
      })
      .toBeGreaterThan(0);
    await mounted.close();
    unregisterSdk();

    const late = open().app;
    const lateSdk = registerSdk();
    await late.start();
    await late.start();
    await callOverHttp(late, "ping");
    expect(lateSdk.spans).toHaveLength(1);
    await late.close();
  });

  it("makes the SDK export all spans when it is closed", async () => {
    const exporter = new InMemorySpanExporter();
    const processor = new BatchSpanProcessor(exporter, { scheduledDelayMillis: 3_600_000 });
    new NodeTracerProvider({ spanProcessors: [processor] }).register();
    const { app } = open();
    await app.start();
    await callOverHttp(app, "ping");
    expect(exporter.getFinishedSpans()).toEqual([]);
    await app.close();
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(["POST /__web/rpc/ping"]);
  });

  it("logs that the SDK could not export the spans, and closes", async () => {
    const processor = new BatchSpanProcessor(new InMemorySpanExporter());
    vi.spyOn(processor, "forceFlush").mockRejectedValue(new Error("The collector is unreachable"));
    new NodeTracerProvider({ spanProcessors: [processor] }).register();
    const { app, lines } = open();
    await app.start();
    await app.close();
    expect(lines).toEqual([
      { level: "error", fields: { err: expect.any(Error) }, message: "The export of traces failed" },
    ]);
  });
});

describe("the package", () => {
  const load = async (error?: Error) => {
    if (error) vi.doMock("@opentelemetry/api", () => Promise.reject(error));
    return (await import("./telemetry-api.ts")).loadTelemetryApi();
  };

  it("is loaded once", async () => {
    const first = await load();
    expect(first.api?.trace).toBeDefined();
    expect(await load()).toBe(first);
  });
});

describe("an import of the package that fails", async () => {
  const { isMissing } = await import("./telemetry-api.ts");

  it.each([
    Object.assign(new Error("Cannot find package '@opentelemetry/api'"), { code: "ERR_MODULE_NOT_FOUND" }),
    new Error('Could not resolve "@opentelemetry/api" imported by "tsweb". Is it installed?'),
  ])("means that it is not installed: %s", (error) => {
    expect(isMissing(error)).toBe(true);
  });

  it.each([new SyntaxError("Unexpected token"), new Error("EACCES"), "a text"])(
    "means that it is broken, which is logged: %s",
    (error) => {
      expect(isMissing(error)).toBe(false);
    },
  );
});
