/** A short run of `npm run fuzz` with a fixed seed. Every response follows docs/protocol.md, and the server keeps running. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import { type BuiltWireApp, buildWireApp } from "#test/wire-app";
import { fuzzInProcess, fuzzOverSockets } from "./index.ts";

const SEED = 20;

let app: BuiltWireApp;
let server: RunningServer;

beforeAll(async () => {
  app = await buildWireApp();
  server = await startBuilt(app.project.dir, { WEB_ENV: "development" });
});

afterAll(async () => {
  const code = await server?.stop();
  app?.project.remove();
  expect(code).toBe(0);
});

describe("a generated request, valid or not", () => {
  it("gets a response of the protocol from app.fetch", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined); // Some functions throw on purpose.
    const apps = [app.open("plain"), app.open("csrf"), app.open("origin")];
    const { statuses, failures } = await fuzzInProcess(apps, { seed: SEED, runs: 2_000 });
    vi.restoreAllMocks();
    expect(failures).toEqual([]);
    // The requests reach functions, and every check before them.
    for (const status of [200, 400, 401, 403, 404, 405, 413, 415, 422, 500])
      expect(statuses[status], `${status}`).toBeGreaterThan(0);
  });

  it("gets a response of the protocol from the built server, or its connection is closed", async () => {
    const { statuses, failures } = await fuzzOverSockets(server.address, { seed: SEED, runs: 300 });
    expect(failures).toEqual([]);
    for (const status of [400, 422]) expect(statuses[status], `${status}`).toBeGreaterThan(0);
    expect((await fetch(`${server.address}/healthz`)).status).toBe(200);
    expect(server.output()).not.toMatch(/failed|Error:|Closing file/);
  });

  it("gets the same response when the run is repeated with its seed", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const [first, second] = [1, 2].map(() => fuzzInProcess([app.open("plain")], { seed: SEED, from: 100, runs: 200 }));
    expect((await first)?.statuses).toEqual((await second)?.statuses);
    vi.restoreAllMocks();
  });
});
