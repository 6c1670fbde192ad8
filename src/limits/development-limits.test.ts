import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";
import type { App, AppOptions } from "../app.ts";
import { limit } from "./limit.ts";

const ping = compiledServer("ping", () => 1);
const rated = compiledServer("rated", () => 1, { options: { rate: { calls: 2, seconds: 60 } } });
const ask = compiledServer("ask", () => limit("ask", { calls: 2, seconds: 60 }));

let reported: string[] = [];
beforeEach(() => {
  reported = [];
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => vi.restoreAllMocks());

function developed(options: Partial<AppOptions> = {}): App {
  const app = createTestApp({ ping, rated, ask }, options);
  const development = { reportDefaultLimit: (text: string) => void reported.push(text) };
  setDevelopment(app, development);
  setDevelopment(app, development); // the development server does this for each request
  return app;
}

async function statuses(app: App, name: string, count: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let sent = 0; sent < count; sent++) {
    const { status } = await callOverHttp(app, name);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

describe("in the development server, a call", () => {
  it("above the default limit is accepted, and reported with the limit that would have refused it", async () => {
    const app = developed();
    expect(await statuses(app, "ping", 120)).toEqual({ 200: 120 });
    expect(reported).toEqual([]);
    expect(await statuses(app, "ping", 1)).toEqual({ 200: 1 });
    expect(reported).toEqual(["120 calls in 60 seconds for the signed-out clients of one address"]);
  });

  it("above a limit that is set is refused: of the application, of a function, and of limit()", async () => {
    expect(await statuses(developed({ rate: { calls: 3, seconds: 60 } }), "ping", 5)).toEqual({ 200: 3, 429: 2 });
    const app = developed();
    for (const name of ["rated", "ask"]) expect(await statuses(app, name, 5), name).toEqual({ 200: 2, 429: 3 });
    expect(reported).toEqual([]);
  });

  it("is not reported without a limit", async () => {
    expect(await statuses(developed({ rate: false }), "ping", 130)).toEqual({ 200: 130 });
    expect(reported).toEqual([]);
  });

  it("of limit() outside a request counts for the application of the last edit", async () => {
    const key = `job ${Math.random()}`;
    const one = developed();
    await limit(key, { calls: 9, seconds: 60 });
    const two = developed();
    expect((await limit(key, { calls: 9, seconds: 60 })).left).toBe(8);
    await Promise.all([one.close(), two.close()]);
  });
});
