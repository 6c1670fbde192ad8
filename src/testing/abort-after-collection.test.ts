import { request as httpRequest } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { listen } from "#test/listen";
import { node } from "../adapters/index.ts";
import type { App } from "../app.ts";
import { request } from "../http/index.ts";
import { inProcessFetch } from "./in-process-fetch.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void; // a context that is created after the flag has it

/** What the functions and routes of the application have done, by their paths. */
const events = new Map<string, string[]>();

/** Waits for nothing but the signal, so that nothing else refers to the request. */
async function untilAborted(path: string, signal: AbortSignal): Promise<null> {
  events.set(path, ["waiting"]);
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  events.get(path)?.push("aborted");
  return null;
}

const call = compiledServer("call", () => untilAborted("/__web/rpc/call", request.signal));
const timed = compiledServer("timed", () => untilAborted("/__web/rpc/timed", request.signal), {
  options: { rpc_timeout: 60 },
});
const readShared = async (raw: Request) => {
  await raw.text();
  return Response.json(await untilAborted("/route", request.signal));
};
const readOwn = (path: string) => async (raw: Request) => {
  await raw.text();
  return Response.json(await untilAborted(path, raw.signal));
};
async function* endless() {
  yield null;
  await untilAborted("/__web/rpc/stream", request.signal);
}
const app = createTestApp({
  stream: compiledServer("stream", endless, { stream: true }),
  call,
  timed,
  route: compiledRoute("POST /route", readShared),
  own: compiledRoute("POST /own", readOwn("/own")),
  upload: compiledRoute("POST /upload", { max_body: 10_000_000 }, readOwn("/upload")),
});

const PATHS = ["/__web/rpc/call", "/__web/rpc/timed", "/__web/rpc/stream", "/route", "/own", "/upload"];

const readAll = (response: Response) => response.text();
const json = { "content-type": "application/json" };

/** Sends a request and returns a function that aborts it. */
type Send = (app: App, path: string) => Promise<() => void>;

const SENDERS: Readonly<Record<string, Send>> = {
  "`fetch` of a visitor": async (app, path) => {
    const abort = new AbortController();
    const init = { method: "POST", headers: json, body: '{"args":{}}', signal: abort.signal };
    inProcessFetch(app, "::1")(`http://localhost${path}`, init)
      .then(readAll)
      .catch(() => undefined);
    return () => abort.abort();
  },
  "`app.fetch`": async (app, path) => {
    const abort = new AbortController();
    const init = { method: "POST", headers: json, body: '{"args":{}}', signal: abort.signal };
    app
      .fetch(new Request(`http://localhost${path}`, init))
      .then(readAll)
      .catch(() => undefined);
    return () => abort.abort();
  },
  "Node's server": async (app, path) => {
    const server = await listen(node(app));
    const sent = httpRequest(server.address + path, { method: "POST", headers: json }); // chunked
    sent.on("error", () => undefined).end('{"args":{}}');
    return () => {
      sent.destroy();
      void server.close();
    };
  },
};

describe.each(Object.entries(SENDERS))("a request by %s that is aborted", (_, send) => {
  const aborts = new Map<string, () => void>();

  // A collection takes most of the time of these tests: all requests wait for the same ones.
  beforeAll(async () => {
    events.clear();
    for (const path of PATHS) aborts.set(path, await send(app, path));
    await vi.waitFor(() => expect(events.size).toBe(PATHS.length), { timeout: 30_000 });
    for (let round = 0; round < 5; round++) {
      await wait(5);
      collectGarbage();
    }
  });

  it.each(PATHS)("aborts the signal after a garbage collection: %s", async (path) => {
    expect(events.get(path)).toEqual(["waiting"]);
    aborts.get(path)?.();
    await expect.poll(() => events.get(path)).toEqual(["waiting", "aborted"]);
  });
});
