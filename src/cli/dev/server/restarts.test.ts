import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { listen } from "#test/listen";
import { Restarts } from "./restart.ts";

/** Starts a server whose requests `respond` answers, behind {@link Restarts}. */
async function start(restarts: Restarts, respond: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = await listen((request, response) => {
    restarts.serve(request, response, () => respond(request, response));
  });
  onTestFinished(() => server.close());
  return server.address;
}

/** Responds as Vite does while it closes. */
function respondOutdated(response: ServerResponse): void {
  response.statusCode = 504;
  response.statusMessage = "Outdated Request";
  response.end();
}

it("a request for a module during a restart is served after it", async () => {
  const restarts = new Restarts();
  const urls: (string | undefined)[] = [];
  let isClosing = true;
  const address = await start(restarts, (request, response) => {
    urls.push(request.url);
    request.url = "/without-base";
    if (isClosing) respondOutdated(response);
    else response.setHeader("content-type", "text/javascript").end("export {};");
  });
  let failRestart = (_error: Error) => {};
  const restarted = restarts.run(
    () =>
      new Promise((_resolve, reject) => {
        failRestart = reject;
      }),
  );
  const requested = fetch(`${address}/module.js`);
  await expect.poll(() => urls).toHaveLength(1);
  isClosing = false;
  failRestart(new Error("A mistake in the config"));
  await expect(restarted).rejects.toThrow("A mistake in the config");
  const response = await requested;
  expect([response.status, response.statusText, await response.text()]).toEqual([200, "OK", "export {};"]);
  expect(urls).toEqual(["/module.js", "/module.js"]);
});

it("a request that a restart has interrupted is served once more", async () => {
  const restarts = new Restarts();
  let requests = 0;
  const address = await start(restarts, async (_request, response) => {
    if (++requests > 1) return void response.end("new");
    await restarts.run(async () => undefined);
    respondOutdated(response);
  });
  expect(await (await fetch(address)).text()).toBe("new");
  expect(requests).toBe(2);
});

it("all other responses are sent as they are", async () => {
  const restarts = new Restarts();
  let requests = 0;
  const address = await start(restarts, (request, response) => {
    requests++;
    if (request.url === "/outdated") return respondOutdated(response);
    response.writeHead(504, "Outdated Optimize Dep").end("body");
  });
  expect((await fetch(`${address}/outdated`)).status, "no restart").toBe(504);
  void restarts.run(() => new Promise(() => undefined));
  const other = await fetch(`${address}/other`);
  expect([other.status, other.statusText, await other.text()]).toEqual([504, "Outdated Optimize Dep", "body"]);
  expect(requests).toBe(2);
});

it("edits during a restart cause one more after it", async () => {
  const restarts = new Restarts();
  const events: string[] = [];
  const ends: (() => void)[] = [];
  const run = () =>
    restarts.run(async () => {
      events.push("start");
      await new Promise<void>((resolve) => ends.push(resolve));
      events.push("end");
    });
  const all = Promise.all([run(), run(), run()]);
  let hasFinished = false;
  void restarts.finished().then(() => {
    hasFinished = true;
  });
  expect(events).toEqual(["start"]);
  ends[0]?.();
  await expect.poll(() => events).toEqual(["start", "end", "start"]);
  expect(hasFinished).toBe(false);
  ends[1]?.();
  await all;
  await expect.poll(() => hasFinished).toBe(true);
  expect(events).toEqual(["start", "end", "start", "end"]);
  void run();
  expect(events.at(-1), "a later edit").toBe("start");
});
