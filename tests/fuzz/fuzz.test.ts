/**
 * A small part of `npm run fuzz`, always the same: whatever comes, the answer is one of the
 * interface's, and the process lives.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Running, startBuilt } from "#test/run-tsweb";
import { buildWireApp, type WireApp } from "#test/wire-app";
import { fuzzInProcess, fuzzOverSockets } from "./index.ts";

const SEED = 20;

let app: WireApp;
let server: Running;

beforeAll(async () => {
  app = await buildWireApp();
  server = await startBuilt(app.site.dir, { WEB_ENV: "development" });
});

afterAll(async () => {
  const code = await server?.stop();
  app?.site.remove();
  expect(code).toBe(0);
});

describe("what nobody would send", () => {
  it("is answered in process", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined); // some functions fail on purpose
    const apps = [app.open("plain"), app.open("csrf"), app.open("origin")];
    const { statuses, faults } = await fuzzInProcess(apps, { seed: SEED, runs: 2_000 });
    vi.restoreAllMocks();
    expect(faults).toEqual([]);
    // It gets through to functions, and to every step before them.
    for (const status of [200, 400, 401, 403, 404, 405, 413, 415, 422, 500])
      expect(statuses[status], `${status}`).toBeGreaterThan(0);
  });

  it("is answered over sockets, or its connection closed", async () => {
    const { statuses, faults } = await fuzzOverSockets(server.address, { seed: SEED, runs: 300 });
    expect(faults).toEqual([]);
    for (const status of [400, 422]) expect(statuses[status], `${status}`).toBeGreaterThan(0);
    expect((await fetch(`${server.address}/healthz`)).status).toBe(200);
    expect(server.output()).not.toMatch(/failed|Error:|Closing file/);
  });

  it("is the same again with the same seed", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const [one, other] = [1, 2].map(() => fuzzInProcess([app.open("plain")], { seed: SEED, from: 100, runs: 200 }));
    expect((await one)?.statuses).toEqual((await other)?.statuses);
    vi.restoreAllMocks();
  });
});
