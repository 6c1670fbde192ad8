/**
 * Uploads to a built application in a process of its own: the memory that they take, and what they leave on disk when
 * a client or the process ends in the middle.
 *
 * UPLOADS=20x100 sends 20 files of 100 MB at once instead of the default.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { buildProcesses } from "#test/built-processes";
import type { TestProject } from "#test/test-project";
import { client } from "../../src/client/index.ts";

const [UPLOADS = 0, MEGABYTES = 0] = (process.env.UPLOADS ?? "8x15").split("x").map(Number);
const MEGABYTE = 1_000_000;

type Files = {
  collect_garbage: (() => Promise<void>) & { named(args: object): Promise<void> };
  memory_bytes: (() => Promise<number>) & { named(args: object): Promise<number> };
};

const uploads = mkdtempSync(join(tmpdir(), "tsweb-uploads-test-"));
let project: TestProject;

beforeAll(async () => {
  project = await buildProcesses();
});
afterAll(() => {
  project.remove();
  rmSync(uploads, { recursive: true, force: true });
});

const start = () => AppProcess.start(project.dir, { ...sharedEnv(), WEB_UPLOAD_DIR: uploads }, ["--expose-gc"]);
const directories = () => readdirSync(uploads);
const storedFiles = () =>
  readdirSync(uploads, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

const HEAD = (together: number) =>
  `--XX\r\nContent-Disposition: form-data; name="__args"\r\n\r\n{"together":${together}}\r\n` +
  '--XX\r\nContent-Disposition: form-data; name="file"; filename="x.bin"\r\n\r\n';
const END = "\r\n--XX--\r\n";

/** Opens an upload whose body the test writes. */
function openUpload(
  address: string,
  bytes: number,
  together = 1,
): { request: ClientRequest; response: Promise<string> } {
  const head = HEAD(together);
  const upload = request(`${address}/__web/form/upload`, {
    method: "POST",
    agent: false,
    headers: {
      origin: address,
      "content-type": "multipart/form-data; boundary=XX",
      "content-length": head.length + bytes + END.length,
    },
  });
  const response = new Promise<string>((resolve, reject) => {
    upload.on("error", reject).on("response", async (incoming) => {
      let text = "";
      for await (const chunk of incoming) text += chunk;
      resolve(text);
    });
  });
  upload.write(head);
  return { request: upload, response };
}

const CHUNK = Buffer.alloc(64 * 1024, "x");

/** Sends a whole upload, without holding it in memory. */
async function upload(address: string, bytes: number, together: number): Promise<string> {
  const { request: sending, response } = openUpload(address, bytes, together);
  for (let sent = 0; sent < bytes; sent += CHUNK.length) {
    const isTaken = sending.write(CHUNK.subarray(0, Math.min(CHUNK.length, bytes - sent)));
    if (!isTaken) await new Promise((resolve) => sending.once("drain", resolve));
  }
  sending.end(END);
  return response;
}

describe("many large uploads at once", () => {
  it(`add less than 100 MB of memory: ${UPLOADS} of ${MEGABYTES} MB [REQUEST-31]`, { timeout: 300_000 }, async () => {
    const app = await start();
    try {
      const { collect_garbage, memory_bytes } = client<Files>(app.address);
      await upload(app.address, 10 * MEGABYTE, 1); // loads the code
      await collect_garbage();
      const before = await memory_bytes();
      let highest = before;
      let isRunning = true;
      const watching = (async () => {
        for (; isRunning; await setTimeout(50)) highest = Math.max(highest, await memory_bytes());
      })();
      const responses = await Promise.all(
        Array.from({ length: UPLOADS }, () => upload(app.address, MEGABYTES * MEGABYTE, UPLOADS + 1)),
      );
      isRunning = false;
      await watching;
      expect(new Set(responses)).toEqual(new Set([`{"result":${MEGABYTES * MEGABYTE}}`]));
      if (process.env.UPLOADS) console.log(`Added ${(highest - before) / MEGABYTE} MB`);
      expect((highest - before) / MEGABYTE).toBeLessThan(100);
      await expect.poll(() => storedFiles()).toEqual([]);
    } finally {
      await app.stop();
    }
  });
});

describe("the file of an upload is removed", () => {
  it("when the client disconnects in the middle [REQUEST-34]", async () => {
    const app = await start();
    try {
      const { request: sending, response } = openUpload(app.address, 10 * MEGABYTE);
      response.catch(() => undefined); // the connection is destroyed below
      sending.write(Buffer.alloc(MEGABYTE));
      await vi.waitFor(() => expect(storedFiles()).toHaveLength(1), 30_000);
      sending.destroy();
      await vi.waitFor(() => expect(storedFiles()).toEqual([]), 30_000);
    } finally {
      await app.stop();
    }
  });

  it("with its directory, when the process stops", async () => {
    const app = await start();
    await upload(app.address, MEGABYTE, 1);
    expect(directories()).toHaveLength(1);
    expect(await app.stop()).toBe(0);
    expect(directories()).toEqual([]);
  });

  it("when the next process starts, if the process was killed; that of a running process stays [REQUEST-35]", async () => {
    const [killed, running] = [await start(), await start()];
    try {
      const sent = await Promise.all(
        [killed, running].map(async (app) => {
          const { request: sending, response } = openUpload(app.address, 2 * MEGABYTE);
          sending.write(Buffer.alloc(MEGABYTE));
          return { sending, response: response.catch(() => "disconnected") };
        }),
      );
      await vi.waitFor(() => expect(storedFiles()).toHaveLength(2), 30_000);
      await killed.kill();
      expect(directories()).toHaveLength(2);
      await killed.restart();
      expect(directories()).toHaveLength(1);
      const [, other] = sent;
      other?.sending.write(Buffer.alloc(MEGABYTE));
      other?.sending.end(END);
      expect(await other?.response).toBe(`{"result":${2 * MEGABYTE}}`);
    } finally {
      await Promise.all([killed.stop(), running.stop()]);
    }
    expect(directories()).toEqual([]);
  });
});
