import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { defineScript, openRedisConnection, runScript } from "./index.ts";

it("a command whose connection is lost names the server and the lost connection, and no option of ioredis", async () => {
  // Replies to INFO, and closes the connection at the script.
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      if (/evalsha/i.test(String(data))) socket.destroy();
      else socket.write("$15\r\nredis_version:7\r\n".repeat((String(data).match(/\*\d/g) ?? []).length));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  const { connection, close } = openRedisConnection(`redis://127.0.0.1:${address.port}`, recordedLog().log);
  const redis = await connection.client();
  await expect.poll(() => redis.status).toBe("ready");
  await expect(runScript(connection, defineScript("return 1"), { keys: [], args: [] })).rejects.toThrow(
    `The connection to Redis at 127.0.0.1:${address.port} was closed before it replied.`,
  );
  await close();
  server.close();
});

it("a command for a connection that ioredis has not noticed to be lost names the lost connection", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      socket.write("$15\r\nredis_version:7\r\n".repeat((String(data).match(/\*\d/g) ?? []).length));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a server that listens on TCP
  const { log, lines } = recordedLog();
  const { connection, close } = openRedisConnection(`redis://127.0.0.1:${port}`, log);
  const redis = await connection.client();
  await expect.poll(() => redis.status).toBe("ready");
  redis.stream.end(); // not writable from now on, and `close` follows later
  expect(redis.status).toBe("ready");
  await expect(runScript(connection, defineScript("return 1"), { keys: [], args: [] })).rejects.toThrow(
    `The connection to Redis at 127.0.0.1:${port} was lost.`,
  );
  redis.emit("error", new Error("Stream isn't writeable and enableOfflineQueue options is false"));
  expect(lines.map(({ fields }) => fields)).toEqual([
    { redis: `127.0.0.1:${port}`, reason: "The connection was lost." },
  ]);
  await close();
  server.close();
});
