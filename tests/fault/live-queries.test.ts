/** Live queries in two processes over Redis and NATS: pages that change the process, and a bus that is not there for a while. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledQuery, compiledServer, createTestApp } from "#test/compiled-app";
import { NatsServer } from "#test/nats-server";
import { QueryClient } from "#test/query-client";
import { RedisServer } from "#test/redis-server";
import type { App } from "../../src/app.ts";
import type { LiveHandle } from "../../src/protocol/index.ts";

let state = 0;
const runs = [0, 0];

function createApp(url: string, index: number): App {
  const cards = compiledQuery(
    "cards",
    { on: ["cards"] },
    () => {
      runs[index] = (runs[index] ?? 0) + 1;
      return Array.from({ length: 10 }, (_, id) => ({ id, state: id === 0 ? state : 0, text: "text".repeat(10) }));
    },
    { hash: "a1B2c3" },
  );
  const show = compiledServer("show", () => cards.live());
  const env = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_BUS_URL: url };
  return createTestApp({ cards, show }, { rate: false, env });
}

const apps: App[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  vi.restoreAllMocks();
});

const stateOf = ({ first }: QueryClient) => (first.value as readonly { state: number }[])[0]?.state;

describe.each([
  ["Redis", () => RedisServer.start({ appendOnly: true })],
  ["NATS", () => NatsServer.start()],
])("live queries in two processes over %s", (_, startBus) => {
  it("show every change in both, keep the values of pages that change the process, and never go back", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const bus = await startBus();
    try {
      apps.push(createApp(bus.url, 0), createApp(bus.url, 1));
      // An application that has started runs no query until it has connected to the bus.
      const handle: LiveHandle = await vi.waitFor(async () => {
        const { result, error } = await (await callOverHttp(apps[0] as App, "show")).json();
        if (error) throw new Error(error.message);
        return result;
      }, 30_000);
      let current = 0;
      const client = new QueryClient(
        (path, init) => (apps[current] as App).fetch(new Request(`http://shop.example${path}`, init)),
        [handle],
      );
      let last = 0;
      for (let round = 1; round <= 20; round++) {
        current = round % 2;
        const framesBefore = client.first.frames.length;
        await client.open();
        if (round % 4 === 0) expect(client.first.frames.length).toBe(framesBefore); // nothing has changed: the value is kept
        // The second change is a patch: the process has sent the value before it.
        for (const publisher of [(round >> 1) % 2, round % 2]) {
          state++;
          await (apps[publisher] as App).publish("cards", null);
          await vi.waitFor(() => expect(stateOf(client)).toBe(state), { timeout: 10_000, interval: 5 });
          expect(stateOf(client)).toBeGreaterThanOrEqual(last);
          last = stateOf(client) ?? -1;
        }
      }
      // While no stream is open, the other process has changed it: the page gets it when it connects again.
      await client.close();
      state++;
      await (apps[0] as App).publish("cards", null);
      current = 1 - current;
      await client.open();
      await vi.waitFor(() => expect(stateOf(client)).toBe(state), { timeout: 10_000 });
      expect(client.first.frames.some(({ patch }) => patch)).toBe(true);
      await client.close();
      expect(runs[0]).toBeLessThanOrEqual(3 * 43);
      expect(runs[1]).toBeLessThanOrEqual(3 * 43);
    } finally {
      for (const app of apps.splice(0)) await app.close();
      await bus.stop();
    }
  });
});
