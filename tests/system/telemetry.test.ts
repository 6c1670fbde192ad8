/**
 * Errors and traces of a built application: the recipe of docs/production.md for Sentry, which sends to a stand-in here, and
 * an SDK of OpenTelemetry that is started as its documentation shows.
 */
import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { documentedFiles } from "#test/documented-files";
import { type LocalServer, listen } from "#test/listen";
import { build, startNode } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex") };
const SECRET = "hunter2";

const SHOP = `import { page, route, server } from "tsweb";
import { trace } from "@opentelemetry/api";

const query = () => new Promise((resolve) => setImmediate(resolve)).then(() =>
  trace.getTracer("shop").startActiveSpan("query", (span) => span.end()));

export const buy = server(async (item: string, password: string) => {
  await query();
  throw new Error("The warehouse is unreachable");
});
export const reset = page("/reset/:token", () => { throw new Error("Page of " + "reset"); });
export const hello = route("GET /hello", () => new Response("Hello"));
`;

/** Starts an SDK as the documentation of OpenTelemetry shows. It prints each span as one line. */
const TELEMETRY = `import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
const exporter = {
  export(spans, done) {
    for (const span of spans) {
      const { name, attributes, parentSpanContext } = span;
      const { traceId, spanId } = span.spanContext();
      console.log("SPAN " + JSON.stringify({ name, attributes, traceId, spanId, parent: parentSpanContext?.spanId ?? null }));
    }
    done({ code: 0 });
  },
  shutdown: async () => undefined,
};
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
`;

interface PrintedSpan {
  readonly name: string;
  readonly attributes: object;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | null;
}

const spansIn = (output: string): PrintedSpan[] =>
  [...output.matchAll(/^SPAN (.*)$/gm)].map(([, json = ""]) => JSON.parse(json));

let project: TestProject;
let sentry: LocalServer;
const envelopes: string[] = [];

beforeAll(async () => {
  sentry = await listen((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      envelopes.push((request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString());
      response.end("{}");
    });
  });
  project = TestProject.fromFiles({
    ...documentedFiles("docs/production.md"),
    "src/shop.server.ts": SHOP,
    "telemetry.mjs": TELEMETRY,
  });
  project.linkPackages(repository, ["@sentry/node", "@opentelemetry/api", "@opentelemetry/sdk-trace-node"]);
  await build(project.dir);
});

afterAll(async () => {
  await sentry?.close();
  project?.remove();
});

const start = (variables: Readonly<Record<string, string>>) =>
  startNode(project.dir, ["dist/server.mjs"], { ...env, ...variables });

const call = (address: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${address}/__web/rpc/buy?token=${SECRET}`, {
    method: "POST",
    headers: { "content-type": "application/json", cookie: `a=${SECRET}`, authorization: SECRET, ...headers },
    body: JSON.stringify({ args: { item: "tea", password: SECRET } }),
  });

it("Sentry receives each unexpected error with its request id, nothing secret, and the last one before the exit", async () => {
  const server = await start({ SENTRY_DSN: `${sentry.address.replace("://", "://key@")}/1` });
  const response = await call(server.address);
  expect(response.status).toBe(500);
  const page = await fetch(`${server.address}/reset/${SECRET}`);
  expect(page.status).toBe(500);
  expect(await server.stop()).toBe(0);
  const events = envelopes.flatMap((envelope) =>
    envelope
      .split("\n")
      .filter((line) => line.includes('"exception"'))
      .map((line) => JSON.parse(line)),
  );
  const summary = events.map(({ exception, tags, transaction }) => [exception.values[0].value, tags, transaction]);
  expect(summary).toEqual([
    ["The warehouse is unreachable", { kind: "call", request_id: response.headers.get("x-request-id") }, "buy"],
    ["Page of reset", { kind: "page", request_id: page.headers.get("x-request-id") }, "/reset/:token"],
  ]);
  expect(envelopes.join("\n")).not.toContain(SECRET);
  expect(server.output()).not.toContain("[Sentry]");
});

it("an SDK that NODE_OPTIONS starts receives the spans of requests, and of the application as their children", async () => {
  const server = await start({ NODE_OPTIONS: `--import ${project.file("telemetry.mjs")}` });
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const response = await call(server.address, { traceparent: `00-${traceId}-b7ad6b7169203331-01` });
  // On the same connection: without the header, a request begins a trace of its own.
  for (let times = 0; times < 2; times++) await (await fetch(`${server.address}/hello`)).text();
  expect(await server.stop()).toBe(0);
  const [query, buy, ...hellos] = spansIn(server.output());
  expect(buy).toMatchObject({
    ...{ name: "POST /__web/rpc/buy", traceId, parent: "b7ad6b7169203331" },
    attributes: { "http.response.status_code": 500, "rpc.method": "buy", "error.type": "Error" },
  });
  expect(query).toMatchObject({ name: "query", traceId, parent: buy?.spanId });
  expect(response.headers.get("traceparent")).toBe(`00-${traceId}-${buy?.spanId}-01`);
  expect(server.output()).toContain(`"trace_id":"${traceId}","msg":"The call of buy failed"`);
  expect(hellos.map(({ name, parent }) => [name, parent])).toEqual([
    ["GET /hello", null],
    ["GET /hello", null],
  ]);
  expect(new Set(hellos.map((span) => span.traceId)).size).toBe(2);
  expect(server.output()).not.toContain(SECRET);
});
