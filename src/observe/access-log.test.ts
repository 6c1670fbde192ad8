import { expect, it } from "vitest";
import { callOverHttp, compiledPage, compiledRoute, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import { issueFeed, liveFunctions, requestLive } from "#test/live-client";
import { recordedLog } from "#test/recorded-log";
import type { App } from "../app.ts";

const SECRET = "hunter2";
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const HEADERS = { "x-request-id": "id-1", traceparent: `00-${TRACE}-b7ad6b7169203331-01`, authorization: SECRET };

function loggedApp(env: Readonly<Record<string, string>> = { WEB_ACCESS_LOG: "1" }) {
  const { log, lines } = recordedLog();
  const app = createTestApp(
    {
      ...liveFunctions,
      add: compiledServer("add", (a: number) => a + 1, { params: { a: "int" } }),
      $cost: compiledServer("$cost", () => 1),
      numbers: compiledServer(
        "numbers",
        function* () {
          for (let n = 0; ; n++) yield n;
        },
        { stream: true },
      ),
      user: compiledPage("/users/:id", () => "é"),
      hook: compiledRoute("PUT /hooks/:id", () => new Response(new Uint8Array(1_000))),
    },
    { log, env: { WEB_AUTH_SECRET: "5a".repeat(32), ...env } },
  );
  const requests = () => lines.filter(({ message }) => message === "Request").map(({ fields }) => fields);
  return { app, requests, lines };
}

const line = (
  method: string,
  kind: string,
  name: string | null,
  status: number,
  bytes: unknown = expect.any(Number),
) => ({
  ...{ id: "id-1", trace_id: TRACE, method, kind, name, status, ms: expect.any(Number), bytes, address: "192.0.2.1" },
});

const send = (app: App, method: string, path: string, init: RequestInit = {}) => {
  const url = `http://shop.example${path}?token=${SECRET}`;
  const { headers, ...rest } = init;
  const request = new Request(url, { method, ...rest, headers: { ...HEADERS, ...headers } });
  return app.fetch(request, { address: "192.0.2.1" });
};

it("has one line for each request, with the function or the pattern of the path, and nothing that is secret", async () => {
  const { app, requests, lines } = loggedApp();
  const json = { "content-type": "application/json" };
  const page = await (await send(app, "GET", `/users/${SECRET}`)).arrayBuffer();
  await send(app, "POST", "/__web/rpc/add", { headers: json, body: `{"args":{"a":41},"x":"${SECRET}"}` });
  await send(app, "POST", `/__web/rpc/${SECRET}`, { headers: json, body: "{}" });
  await (await send(app, "PUT", `/hooks/${SECRET}`, { body: SECRET })).arrayBuffer();
  await send(app, "HEAD", `/users/${SECRET}`);
  await send(app, "GET", `/nothing/${SECRET}`);
  expect(requests()).toEqual([
    line("GET", "page", "/users/:id", 200, page.byteLength),
    line("POST", "call", "add", 200, '{"result":42}'.length),
    line("POST", "call", null, 404),
    line("PUT", "route", "/hooks/:id", 200, 1_000),
    line("HEAD", "page", "/users/:id", 200, 0),
    line("GET", "other", null, 404),
  ]);
  expect(JSON.stringify(lines)).not.toContain(SECRET);
});

it("has the line of a stream when it ends, with the bytes that were read", async () => {
  const { app, requests } = loggedApp();
  const response = await send(app, "POST", "/__web/rpc/numbers", {
    headers: { "content-type": "application/json" },
    body: '{"args":{}}',
  });
  const reader = response.body?.getReader();
  const first = await reader?.read();
  expect(requests()).toEqual([]);
  await reader?.cancel();
  expect(requests()).toEqual([line("POST", "stream", "numbers", 200, first?.value?.byteLength)]);
});

it("has the line of an event stream when it ends", async () => {
  const { app, requests } = loggedApp();
  const response = await requestLive(app, "live", [await issueFeed(app, "room")]);
  const reader = response.body?.getReader();
  await reader?.read();
  expect(requests().map((fields) => (fields as { kind: string }).kind)).toEqual(["call"]);
  await app.close();
  while (!(await reader?.read())?.done);
  expect(requests().slice(1)).toMatchObject([{ kind: "live", name: "/__web/live", status: 200 }]);
  expect((requests()[1] as { bytes: number }).bytes).toBeGreaterThan(0);
});

it("has the time that the response took, and no health checks", async () => {
  const { app, requests } = loggedApp();
  for (const path of ["/healthz", "/readyz"]) expect((await send(app, "GET", path)).status).toBe(200);
  expect(requests()).toEqual([]);
  const before = performance.now();
  await callOverHttp(app, "add", { a: 1 });
  const [fields] = requests() as { ms: number }[];
  expect(fields?.ms).toBeGreaterThanOrEqual(0);
  expect(fields?.ms).toBeLessThanOrEqual(performance.now() - before + 1);
});

it("is written regardless of WEB_LOG_LEVEL, and not without WEB_ACCESS_LOG", async () => {
  for (const [env, count] of [
    [{ WEB_ACCESS_LOG: "1", WEB_LOG_LEVEL: "silent" }, 1],
    [{}, 0],
    [{ WEB_ACCESS_LOG: "0" }, 0],
  ] as const) {
    const { app, requests } = loggedApp(env);
    await getPage(app, "/users/7");
    expect(requests()).toHaveLength(count);
  }
});

it("has the function of a form that a browser sends without script, from a development server and from a build", async () => {
  const { app, requests } = loggedApp();
  for (const target of [
    "add",
    "add.0mwscmxpswkak.5E0VLu",
    "%24cost.0mwscmxpswkak.5E0VLu:add",
    "add:numbers",
    "gone.x.y",
  ]) {
    const url = `http://shop.example/users/ada?__form=${target}`;
    const headers = { ...HEADERS, origin: "http://shop.example", "content-type": "application/x-www-form-urlencoded" };
    await app.fetch(new Request(url, { method: "POST", body: "a=1", headers }), { address: "192.0.2.1" });
  }
  expect(requests().map((fields) => [Reflect.get(fields, "kind"), Reflect.get(fields, "name")])).toEqual([
    ["form", "add"],
    ["form", "add"],
    ["form", "$cost"],
    ["form", "add"],
    ["form", null],
  ]);
});
