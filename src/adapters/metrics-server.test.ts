import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { loadConfig } from "../config/index.ts";
import { type MetricsServer, serveMetrics } from "./serve.ts";

const servers: { close(): void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function start(metrics: Parameters<typeof serveMetrics>[1]["metrics"], port = 0) {
  const { log, lines } = recordedLog();
  const env = { WEB_ENV: "development", HOST: "127.0.0.1", WEB_METRICS_PORT: String(port) };
  const config = loadConfig(env, { built: false, projectDir: process.cwd(), hasSharedBus: false });
  const server: MetricsServer = await serveMetrics(config, { metrics, log });
  servers.push(server);
  return { address: server.address, lines };
}

it("passes the header Authorization on, and responds with what the metrics respond", async () => {
  const { address } = await start(async (authorization) => ({
    status: 401,
    headers: { "x-a": "b" },
    text: `${authorization}`,
  }));
  const response = await fetch(address, { headers: { authorization: "Bearer abc" } });
  expect([response.status, response.headers.get("x-a"), await response.text()]).toEqual([401, "b", "Bearer abc"]);
  expect((await fetch(address, { method: "POST", body: "a" })).status).toBe(405);
  expect((await fetch(new URL("/", address))).status).toBe(404);
});

it("responds with 500 and logs the error if the metrics cannot be read", async () => {
  const { address, lines } = await start(() => Promise.reject(new Error("EMFILE: too many open files")));
  expect((await fetch(address)).status).toBe(500);
  expect(lines).toMatchObject([{ level: "error", message: "The metrics could not be read" }]);
});

it("names WEB_METRICS_PORT if its port is in use", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  servers.push(other);
  const { port } = other.address() as AddressInfo; // it listens on a port, not on a pipe
  const started = start(async () => ({ status: 200, headers: {}, text: "" }), port);
  await expect(started).rejects.toThrow(
    `Port ${port} of 127.0.0.1 is in use. Stop the process that listens on it, or set WEB_METRICS_PORT`,
  );
});
