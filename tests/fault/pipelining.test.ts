/**
 * Clients that send requests ahead on connections whose response does not end.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { callFunction } from "#test/call-function";
import { buildLiveApp } from "#test/live-app";
import type { TestProject } from "#test/test-project";

const { TORTURE_SIZE } = process.env;

const MIB = 1024 * 1024;
const CONNECTIONS = 500;
const MAX_ADDED_BYTES = 64 * MIB;
const MEASURED_MS = TORTURE_SIZE === "full" ? 12_000 : 3_000;

let project: TestProject;

beforeAll(async () => {
  project = await buildLiveApp();
});

afterAll(() => project?.remove());

const HOST = "Host: 127.0.0.1\r\n";

/** Returns requests to a function, each of 16 KB. */
function posts({ count, headers = "", body = "x".repeat(16_000) }: Partial<PostOptions> & { count: number }): Buffer {
  const head = `POST /__web/rpc/pid HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n${headers}`;
  return Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(count));
}

interface PostOptions {
  readonly headers: string;
  readonly body: string;
}

/** As many different headers as have a size of 16 KB. */
const MANY_HEADERS = Array.from({ length: 990 }, (_, n) => `x${n}: ${"y".repeat(8)}\r\n`).join("");

/** A body of a byte in each chunk. */
const SMALL_CHUNKS = Buffer.from(
  `POST /__web/rpc/pid HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(250_000)}0\r\n\r\n`,
);

const ATTACKS = [
  { title: "99 posts of 16 KB behind event streams", path: "/__web/live", ahead: posts({ count: 99 }) },
  { title: "99 posts of 16 KB behind polls", path: "/__web/poll", ahead: posts({ count: 99 }) },
  {
    title: "99 posts with 990 headers behind event streams",
    path: "/__web/live",
    ahead: posts({ count: 99, headers: MANY_HEADERS, body: "" }),
  },
  { title: "a body of a byte in each chunk behind event streams", path: "/__web/live", ahead: SMALL_CHUNKS },
  {
    title: "ten thousand requests without a header behind event streams",
    path: "/__web/live",
    ahead: Buffer.from(`GET / HTTP/1.1\r\n${HOST}\r\n`.repeat(10_000)),
  },
];

/** Opens a connection that sends a request, and the others as soon as its response has begun. */
function openAttack(port: number, path: string, ahead: Buffer): Socket {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\n${HOST}\r\n`);
  const send = setTimeout(() => socket.write(ahead), 500); // a poll has no head until it ends
  socket.once("data", () => socket.write(ahead)).once("data", () => clearTimeout(send));
  return socket;
}

/** Returns the resident memory of a process, in bytes. */
function memoryOf(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) * 1024;
}

/** Returns how much memory a server uses at most in a while, garbage not included, in bytes. */
async function greatestUseOf({ address }: AppProcess): Promise<number> {
  let max = 0;
  for (const until = performance.now() + MEASURED_MS; performance.now() < until; await pause(50)) {
    max = Math.max(max, await callFunction<number>(address, "used_bytes"));
  }
  return max;
}

/** Opens many connections that attack a server while a function runs. */
async function attackDuring<T>({ address, port }: AppProcess, attack: (typeof ATTACKS)[number], run: () => Promise<T>) {
  const [feed] = await callFunction<string[]>(address, "issue_feeds", { names: ["room"] });
  const sockets = Array.from({ length: CONNECTIONS }, () =>
    openAttack(port, `${attack.path}?feed=${feed}`, attack.ahead),
  );
  try {
    return await run();
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

describe("500 connections of a client", { timeout: 120_000 }, () => {
  it.each(ATTACKS)("add at most 64 MiB to a server, with $title [REQUEST-67]", async (attack) => {
    const server = await AppProcess.start(project.dir, sharedEnv(), ["--expose-gc"]);
    try {
      const pid = await callFunction<number>(server.address, "pid");
      const residentBefore = memoryOf(pid);
      const before = await callFunction<number>(server.address, "used_bytes");
      const max = await attackDuring(server, attack, () => greatestUseOf(server));
      if (TORTURE_SIZE) {
        const added = [max - before, memoryOf(pid) - residentBefore].map((bytes) => (bytes / MIB).toFixed(1));
        console.log(`${attack.title}: ${added[0]} MiB added, ${added[1]} MiB resident`);
      }
      expect(max - before).toBeLessThan(MAX_ADDED_BYTES);
    } finally {
      await server.stop();
    }
  });

  it.each(ATTACKS)("end no server with a heap of 128 MB, with $title [REQUEST-68]", async (attack) => {
    const server = await AppProcess.start(project.dir, sharedEnv(), ["--max-old-space-size=128"]);
    try {
      const pid = await callFunction<number>(server.address, "pid");
      await attackDuring(server, attack, () => pause(MEASURED_MS));
      expect(await callFunction<number>(server.address, "pid")).toBe(pid);
    } finally {
      await server.stop();
    }
  });
});
