// What one process needs: its memory, and the processor time of a call, a page and a delivered message.
import { fileURLToPath } from "node:url";
import { buildApp, startApp } from "./lib/app.mjs";
import { browserHeaders, generator, load } from "./lib/load.mjs";
import { median, table } from "./lib/numbers.mjs";
import { cpuMs, layout, residentKiB, startServer } from "./lib/processes.mjs";
import { tsweb } from "./live/contestants.mjs";
import { measureDelivery } from "./live/delivery.mjs";

const CALL = {
  path: "/__web/rpc/echo",
  method: "POST",
  headers: { "content-type": "application/json" },
  body: '{"args":{"text":"~Somebody said something.","n":1000000}}',
};
const PAGE = { path: "/table", method: "GET" };

/** Returns the bytes of the request: with its time, the numbers of another machine can be estimated. */
const BARE = {
  ...CALL,
  path: "/echo",
  start: () => startServer([fileURLToPath(new URL("peers/calls/bare.mjs", import.meta.url))]),
};

/** Measures a process under load with one kind of request. */
async function measureRequests({ path, method, headers, body, start = startApp }, { seconds, connections }) {
  const server = await start();
  try {
    if (start === startApp) await fetch(`${server.address}${PAGE.path}`);
    const idle = residentKiB(server.pid);
    const target = { url: server.address + path, method, body, headers: browserHeaders(server.address, headers) };
    await load(target, { seconds, connections }); // the first requests are compiled
    const before = cpuMs(server.pid);
    const { requests } = await load(target, { seconds, connections });
    return { micros: ((cpuMs(server.pid) - before) * 1000) / requests, idle, busy: residentKiB(server.pid) };
  } finally {
    await server.end();
  }
}

export async function sizing({ rounds, seconds, connections }) {
  buildApp();
  const runs = { bare: [], calls: [], pages: [], live: [] };
  for (let round = 0; round < rounds; round++) {
    runs.bare.push(await measureRequests(BARE, { seconds, connections: 32 }));
    runs.calls.push(await measureRequests(CALL, { seconds, connections: 32 }));
    runs.pages.push(await measureRequests(PAGE, { seconds, connections: 32 }));
    runs.live.push(await measureDelivery(tsweb, { connections, rate: 40, seconds }));
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  const of = (list, read) => median(list.map(read));
  const perSecond = (micros) => `${Math.round(1e6 / micros).toLocaleString("en")} (${micros.toFixed(1)} µs each)`;
  const mib = (kib) => `${Math.round(kib / 1024)} MiB`;
  return [
    "## Sizing",
    `${rounds} rounds of ${seconds} s, medians; load by ${generator}, ${layout}. Rates are those of one core that does nothing else, computed from the processor time of the process.`,
    table(
      ["one process", ""],
      [
        ["memory after the first page", mib(of([...runs.calls, ...runs.pages], ({ idle }) => idle))],
        ["memory under full load of calls", mib(of(runs.calls, ({ busy }) => busy))],
        ["memory under full load of pages", mib(of(runs.pages, ({ busy }) => busy))],
        ["memory for 1,000 live connections", mib(of(runs.live, ({ kib }) => kib) * 1_000)],
        ["calls per second", perSecond(of(runs.calls, ({ micros }) => micros))],
        ["pages per second (50 rows, one view)", perSecond(of(runs.pages, ({ micros }) => micros))],
        ["messages delivered per second", perSecond(of(runs.live, ({ cpu }) => cpu))],
        ["for comparison: responses of bare `node:http` per second", perSecond(of(runs.bare, ({ micros }) => micros))],
      ],
    ),
  ].join("\n\n");
}
