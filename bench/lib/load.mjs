// Sends requests as fast as the server responds, from a process of its own: with wrk if it is on the path, otherwise
// with load-process.mjs.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onPath, pinned } from "./processes.mjs";

const run = promisify(execFile);
const siblingPath = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The load generator, for the report. */
export const generator = onPath("wrk") ? "wrk" : "a generator in Node (wrk is faster)";

/**
 * Returns the headers that Chromium sends with a call, without host, type and length. All contestants receive them:
 * parsing headers is most of the work of reading a request.
 */
export function browserHeaders(address, extraHeaders = {}) {
  return {
    "user-agent":
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    accept: "*/*",
    "accept-language": "en-GB,en;q=0.9",
    "accept-encoding": "gzip, deflate, br, zstd",
    origin: address,
    referer: `${address}/`,
    "sec-fetch-site": "same-origin",
    "sec-fetch-mode": "cors",
    "sec-fetch-dest": "empty",
    ...extraHeaders,
  };
}

/**
 * Sends requests to one URL for some seconds.
 *
 * @param target `{ url, method, headers, body }`
 * @returns `{ requests, seconds }`: the number of responses, and the time they took
 * @throws Error when a response had another status than 2xx
 */
export async function load(target, { seconds, connections }) {
  const { requests, micros, failed } = onPath("wrk")
    ? await withWrk(target, { seconds, connections })
    : await withNode(target, { seconds, connections });
  if (failed > 0) throw new Error(`${failed} of ${requests} responses of ${target.url} had another status than 2xx.`);
  if (requests === 0) throw new Error(`${target.url} did not respond within ${seconds} s.`);
  return { requests, seconds: micros / 1e6 };
}

async function withWrk({ url, method, headers, body = "" }, { seconds, connections }) {
  const lines = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const args = [
    "-t1",
    "--timeout",
    "20s",
    `-c${connections}`,
    `-d${seconds}s`,
    "-s",
    siblingPath("wrk.lua"),
    ...lines,
    url,
  ];
  return withBodyFile(body, async (file) => {
    const env = { ...process.env, BENCH_METHOD: method, BENCH_BODY_FILE: file };
    const { stdout } = await run(...pinned(1, "wrk", args), { env, timeout: seconds * 1000 + 10_000 });
    return JSON.parse(stdout.trim().split("\n").at(-1));
  });
}

async function withNode({ body = "", ...target }, { seconds, connections }) {
  return withBodyFile(body, async (bodyFile) => {
    const args = [siblingPath("load-process.mjs"), JSON.stringify({ ...target, bodyFile, seconds, connections })];
    const { stdout } = await run(...pinned(1, process.execPath, args), { timeout: seconds * 1000 + 10_000 });
    return JSON.parse(stdout);
  });
}

/** Writes the body to a file, because arguments and variables of a process have at most 128 KiB. */
async function withBodyFile(body, use) {
  const dir = mkdtempSync(join(tmpdir(), "tsweb-bench-"));
  try {
    const file = join(dir, "body");
    writeFileSync(file, body);
    return await use(file);
  } finally {
    rmSync(dir, { recursive: true });
  }
}
