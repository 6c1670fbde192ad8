import { request as httpRequest } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { listen } from "#test/listen";
import { node } from "../adapters/index.ts";
import type { App } from "../app.ts";
import { request } from "../http/index.ts";
import { inProcessFetch } from "./in-process-fetch.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void; // a context that is created after the flag has it

/** What the functions and routes of the application have done. */
let events: string[] = [];

/** Waits for nothing but the signal, so that nothing else refers to the request. */
async function untilAborted(signal: AbortSignal): Promise<null> {
  events.push("waiting");
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  events.push("aborted");
  return null;
}

const call = compiledServer("call", () => untilAborted(request.signal));
const timed = compiledServer("timed", () => untilAborted(request.signal), { options: { rpc_timeout: 60 } });
const readShared = async (raw: Request) => {
  await raw.text();
  return Response.json(await untilAborted(request.signal));
};
const readOwn = async (raw: Request) => {
  await raw.text();
  return Response.json(await untilAborted(raw.signal));
};
async function* endless() {
  yield null;
  await untilAborted(request.signal);
}
const app = createTestApp({
  stream: compiledServer("stream", endless, { stream: true }),
  call,
  timed,
  route: compiledRoute("POST /route", readShared),
  own: compiledRoute("POST /own", readOwn),
  upload: compiledRoute("POST /upload", { max_body: 10_000_000 }, readOwn),
});

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
  it.each(["/__web/rpc/call", "/__web/rpc/timed", "/__web/rpc/stream", "/route", "/own", "/upload"])(
    "aborts the signal after a garbage collection: %s",
    async (path) => {
      events = [];
      const abort = await send(app, path);
      await expect.poll(() => events).toEqual(["waiting"]);
      for (let round = 0; round < 5; round++) {
        await wait(5);
        collectGarbage();
      }
      abort();
      await expect.poll(() => events).toEqual(["waiting", "aborted"]);
    },
  );
});
