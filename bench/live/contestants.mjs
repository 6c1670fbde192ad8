// The measured servers of live updates. `urlsOf` returns the event streams of some channels.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { startApp } from "../lib/app.mjs";
import { startServer } from "../lib/processes.mjs";
import { startBus, startNchan } from "../lib/programs.mjs";
import { callPublishNumbered, callPublishTick } from "./message.mjs";

/** The file descriptors of one process, beside those of its streams: tsweb keeps 256 free for files and databases. */
const OTHER_FILES = 400;

/** The number of file descriptors that a process may have open here: the hard limit, which Node and nginx use. */
const files = Number(spawnSync("sh", ["-c", "ulimit -n 21000 2>/dev/null; ulimit -Hn"], { encoding: "utf8" }).stdout);

/** The most connections that one process can have here. */
export const maxConnections = (Number.isNaN(files) ? Number.POSITIVE_INFINITY : files) - OTHER_FILES;

const peersFolder = fileURLToPath(new URL("../peers/live/", import.meta.url));
const paths = (address, channels) => Array.from({ length: channels }, (_, i) => `${address}/ticks/${i}`);
const peer = (name, file) => ({ name, start: () => startServer([peersFolder + file], LIMITED), urlsOf: paths });

/** Raises the limit of open files, as far as the system allows it, in the shell that starts the server. */
const LIMITED = { files: 21_000 };

export const bare = peer("bare `node:http`", "bare.mjs");
export const betterSse = peer("better-sse", "better-sse.mjs");
export const nchan = { name: "nginx with nchan", start: () => startNchan({ files }), urlsOf: paths, canResume: true };

/**
 * With a bus, each call waits until the bus has stored its message, and tsweb handles the requests of one connection one after
 * another. So the messages are sent over several connections, as clients do.
 */
const BUS_CONNECTIONS = 32;

/** @param bus `redis` or `nats`; in memory without */
function tswebWith(bus) {
  return {
    name: bus ? `tsweb with ${bus === "redis" ? "Redis" : "NATS"}` : "tsweb",
    canResume: true,
    urlsOf: issueFeeds,
    requestOf: bus ? callPublishNumbered : callPublishTick,
    senderConnections: bus ? BUS_CONNECTIONS : 1,
    async start(options = {}) {
      if (!bus) return startApp({ env: { WEB_TRUST_PROXY: "1" }, ...LIMITED, ...options });
      const server = await startBus[bus]();
      const app = await startApp({ env: { WEB_TRUST_PROXY: "1", WEB_BUS_URL: server.url }, ...LIMITED, ...options });
      return { ...app, end: () => app.end().finally(server.end) };
    },
  };
}

export const tsweb = tswebWith();
export const tswebRedis = tswebWith("redis");
export const tswebNats = tswebWith("nats");

/** Requests a feed of each channel, as a page does when it is rendered. */
export async function issueFeeds(address, channels) {
  const urls = [];
  for (let i = 0; i < channels; i++) {
    const feed = await callFunction(address, "issue_feed", { name: String(i) });
    urls.push(`${address}/__web/live?feed=${feed}`);
  }
  return urls;
}

/** Calls a function of the measured application. */
export async function callFunction(address, name, args) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${address}/__web/rpc/${name}`, {
    method: "POST",
    headers,
    body: JSON.stringify({ args }),
  });
  if (!response.ok) throw new Error(`${name} responded with ${response.status} ${await response.text()}`);
  return (await response.json()).result;
}
