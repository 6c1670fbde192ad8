// What a change of one row costs in a live list of 100 rows that many pages show: with patches, with the whole list, and with each
// page asking again when it is notified.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildApp, siteFolder, startApp } from "./lib/app.mjs";
import { browserHeaders } from "./lib/load.mjs";
import { table } from "./lib/numbers.mjs";
import { cpuMs, layout, pinned } from "./lib/processes.mjs";

const pagesFile = fileURLToPath(new URL("lib/pages-process.mjs", import.meta.url));

/** The changes in a second. */
const RATE = 10;

/** How many changes are measured if each page asks again: one takes as long as many of the others. */
const ASKED_CHANGES = 3;

const WAYS = [
  { name: "patches", open: "open_rows" },
  { name: "whole values", open: "open_page" },
  { name: "each page asks again", open: null },
];

/** Measures all ways. @returns Markdown */
export async function queries({ connections, seconds }) {
  buildApp(siteFolder);
  const results = [];
  for (const way of WAYS) {
    results.push(await measure(way, { connections, seconds }));
    process.stderr.write(`${way.name}: ${JSON.stringify(results.at(-1))}\n`);
  }
  const [{ micros: least }] = results;
  const rows = results.map(({ name, micros, bytes, rate }) => [
    name,
    `${micros.toFixed(1)} µs`,
    `${(micros / least).toFixed(1)}`,
    Math.round(bytes).toLocaleString("en"),
    `${((micros * connections * RATE) / 10_000).toFixed(0)} %`,
    rate.toFixed(1),
  ]);
  const head = [
    ...[
      "a change, for each page",
      "processor time",
      "ratio",
      "bytes",
      `of a core for ${connections} pages and ${RATE} changes a second`,
    ],
    "changes a second that were measured",
  ];
  return `## Live queries\n\n${connections} pages, a list of 100 rows, one row changes; ${layout}.\n\n${table(head, rows)}`;
}

async function measure({ name, open }, { connections, seconds }) {
  const server = await startApp({
    cwd: siteFolder,
    env: { WEB_TRUST_PROXY: "1", WEB_MAX_STREAMS_PER_CLIENT: "100000" },
    files: connections + 1_000,
  });
  const call = async (fn, args = {}) => {
    const headers = browserHeaders(server.address, {
      "content-type": "application/json",
      "x-forwarded-for": "10.9.9.9",
    });
    const response = await fetch(`${server.address}/__web/rpc/${fn}`, {
      ...{ method: "POST", headers, body: JSON.stringify({ args }) },
    });
    const { result, error } = await response.json();
    if (error) throw new Error(`${fn}: ${error.message}`);
    return result;
  };
  const pages = startPages();
  try {
    const handle = open ? await call(open) : null;
    const body = handle ? { queries: [`${handle.query}~${handle.v}`] } : { feeds: [await call("open_channel")] };
    await pages.send({ address: server.address, connections, body: JSON.stringify(body) });
    let count = 0;
    let askedBytes = 0;
    const change = async () => {
      count++;
      await call("change_row", { count });
      if (!open) askedBytes += (await pages.send({ ask: "read_rows" })).bytes;
    };
    for (let i = 0; i < 3; i++) await change(); // the first ones are compiled
    await sleep(2_000);
    await pages.send({});
    askedBytes = 0;
    const [before, start, first] = [cpuMs(server.pid), performance.now(), count];
    if (open) {
      for (let at = start; at < start + seconds * 1_000; at += 1_000 / RATE) {
        await sleep(Math.max(0, at - performance.now()));
        await change();
      }
    } else for (let i = 0; i < ASKED_CHANGES; i++) await change();
    await sleep(1_500); // the last values arrive
    const changes = count - first;
    const { bytes, frames } = await pages.send({});
    const micros = ((cpuMs(server.pid) - before) * 1_000) / changes / connections;
    return {
      ...{ name, micros, bytes: (bytes + askedBytes) / changes / connections, frames: frames / connections, changes },
      rate: (changes * 1_000) / (performance.now() - start - 1_500),
    };
  } finally {
    pages.end();
    await server.end();
  }
}

/** Starts the process of the pages. It answers each line of JSON with one. */
function startPages() {
  const [command, args] = pinned(1, process.execPath, [pagesFile]);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async send(options) {
      child.stdin.write(`${JSON.stringify(options)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error("The process of the pages has failed.");
      return JSON.parse(value);
    },
    end: () => child.kill(),
  };
}
