import { once } from "node:events";
import { createServer } from "node:net";
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
  const connection = openRedisConnection(`redis://127.0.0.1:${address.port}`, recordedLog().log);
  const redis = await connection.client();
  await expect.poll(() => redis.status).toBe("ready");
  await expect(runScript(connection, defineScript("return 1"), { keys: [], args: [] })).rejects.toThrow(
    `The connection to Redis at 127.0.0.1:${address.port} was closed before it replied.`,
  );
  await connection.close();
  server.close();
});
