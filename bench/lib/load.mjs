// Sends requests as fast as they are answered, from a process of its own: with wrk where it is on
// the path, else with load-process.mjs.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onPath, pinned } from "./processes.mjs";

const run = promisify(execFile);
const besideThis = (name) => fileURLToPath(new URL(name, import.meta.url));

/** What makes the load, for the report. */
export const generator = onPath("wrk") ? "wrk" : "a generator in Node (install wrk for one that is faster)";

/**
 * What Chromium sends with a call, beside host, type and length. Every peer gets all of it: most of
 * reading a request is reading these.
 */
export function browserHeaders(address, more = {}) {
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
    ...more,
  };
}

/**
 * Loads one address for a while.
 *
 * @param target `{ url, method, headers, body }`
 * @returns `{ requests, seconds, failed }`: answers read, in what time, and how many were not 2xx
 */
export async function load(target, { seconds, connections }) {
  const { requests, micros, failed } = onPath("wrk")
    ? await withWrk(target, { seconds, connections })
    : await withNode(target, { seconds, connections });
  if (failed > 0) throw new Error(`${failed} of ${requests} answers of ${target.url} were failures.`);
  return { requests, seconds: micros / 1e6 };
}

async function withWrk({ url, method, headers, body = "" }, { seconds, connections }) {
  const lines = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", besideThis("wrk.lua"), ...lines, url];
  const env = { ...process.env, BENCH_METHOD: method, BENCH_BODY: body };
  const { stdout } = await run(...pinned(1, "wrk", args), { env, timeout: seconds * 1000 + 10_000 });
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

async function withNode(target, { seconds, connections }) {
  const args = [besideThis("load-process.mjs"), JSON.stringify({ ...target, seconds, connections })];
  const { stdout } = await run(...pinned(1, process.execPath, args), { timeout: seconds * 1000 + 10_000 });
  return JSON.parse(stdout);
}
