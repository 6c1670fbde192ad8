import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { afterEach, beforeEach, expect, it } from "vitest";
import { callOverHttp, compiledPage, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import { createFaultyBus } from "#test/faulty-bus";
import { issueFeed, liveFunctions, poll, requestLive } from "#test/live-client";
import { recordedLog } from "#test/recorded-log";
import { registerSdk, unregisterSdk } from "#test/spans";
import type { App } from "../app.ts";
import { channel, publish } from "../live/index.ts";
import { realtime } from "../server/index.ts";

let sdk: ReturnType<typeof registerSdk>;
let app: App;
const CHANNEL = "user:hunter2";

beforeEach(async () => {
  sdk = registerSdk();
  app = createTestApp(
    {
      ...liveFunctions,
      say: compiledServer("say", () => publish(CHANNEL, "hello")),
      room: compiledPage("/room", async () => {
        await channel(CHANNEL);
        return "";
      }),
    },
    { log: recordedLog().log },
  );
  await app.start();
});

afterEach(async () => {
  await app.close();
  unregisterSdk();
});

const parentIdOf = (name: string) => sdk.span(name).parentSpanContext?.spanId;
const idOf = (name: string) => sdk.span(name).spanContext().spanId;

it("the span of a publish is a child of the call, and contains neither the channel nor the message [RESPONSE-23]", async () => {
  await callOverHttp(app, "say");
  const span = sdk.span("publish");
  expect([span.kind, span.attributes]).toEqual([
    SpanKind.PRODUCER,
    {
      "messaging.system.name": "tsweb",
      "messaging.operation.name": "publish",
      "messaging.operation.type": "send",
      "messaging.message.body.size": '"hello"'.length,
    },
  ]);
  expect(parentIdOf("publish")).toBe(idOf("POST /__web/rpc/say"));
  expect(JSON.stringify([span.name, span.attributes, span.events])).not.toMatch(/hunter2|hello/);
});

it("the span of a publish outside a request is the first of its trace, or a child of the application's span", async () => {
  await app.publish("news", 1);
  expect(parentIdOf("publish")).toBeUndefined();
  sdk.clear();
  await trace.getTracer("shop").startActiveSpan("job", async (span) => {
    await app.publish("news", 2);
    span.end();
  });
  expect(parentIdOf("publish")).toBe(idOf("job"));
});

it("a page that issues a feed has a span for the position, and a poll has spans for its reads", async () => {
  await getPage(app, "/room");
  expect(parentIdOf("position")).toBe(idOf("GET /room"));
  expect(sdk.span("position").kind).toBe(SpanKind.CLIENT);
  const feed = await issueFeed(app, CHANNEL);
  await callOverHttp(app, "say");
  sdk.clear();
  expect((await poll(app, [feed])).events).toHaveLength(1);
  expect(parentIdOf("read")).toBe(idOf("GET /__web/poll"));
});

it("the delivery of a message to live connections adds no spans to the trace that published it", async () => {
  const feed = await issueFeed(app, CHANNEL);
  const events = (await requestLive(app, "live", [feed])).body?.getReader();
  await events?.read();
  sdk.clear();
  await callOverHttp(app, "say");
  await expect.poll(async () => new TextDecoder().decode((await events?.read())?.value)).toContain("hello");
  expect(sdk.spans.map(({ name }) => name)).toEqual(["publish", "POST /__web/rpc/say"]);
  await events?.cancel();
  expect(sdk.spans.map(({ name }) => name)).toContain("GET /__web/live");
});

it("a publish that fails is recorded as an error, in its span and in that of the call", async () => {
  const bus = createFaultyBus();
  bus.isUnreachable = true;
  realtime.use_bus(bus);
  const failing = createTestApp(
    { say: compiledServer("say", () => publish(CHANNEL, "hello")) },
    { log: recordedLog().log },
  );
  await failing.start();
  expect((await callOverHttp(failing, "say")).status).toBe(500);
  for (const name of ["publish", "POST /__web/rpc/say"]) {
    const { status, events } = sdk.span(name);
    expect([status.code, events.map(({ attributes }) => attributes?.["exception.message"])]).toEqual([
      SpanStatusCode.ERROR,
      ["The bus is unreachable."],
    ]);
  }
  await failing.close();
});
