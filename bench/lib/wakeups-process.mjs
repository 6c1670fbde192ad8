// Renders pages in this process, and answers them on a connection that writes nowhere: without parsing requests, and without
// the kernel. Prints the times as JSON.
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { IncomingMessage, ServerResponse } from "node:http";
import { Server } from "node:net";
import { Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { browserHeaders } from "./load.mjs";
import { pinned } from "./processes.mjs";

const [rounds, millis] = process.argv.slice(2).map(Number);

/** The time for which each server runs before it is measured, in milliseconds. */
const WARM_UP_MS = 2_000;

/** How many pages are rendered between two readings of the clock. */
const BATCH = 50;

/** The servers of this process, which get their requests without a connection. */
const servers = [];
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  servers.push(this);
  return listen.apply(this, args);
};

const output = Buffer.alloc(1 << 17);
class NoConnection extends Writable {
  remoteAddress = "127.0.0.1";
  setTimeout() {}
  _write(chunk, encoding, done) {
    if (typeof chunk === "string") output.write(chunk, encoding);
    done();
  }
  _writev(chunks, done) {
    for (const { chunk, encoding } of chunks) this._write(chunk, encoding, () => undefined);
    done();
  }
}

const connection = new NoConnection({ decodeStrings: false });
const headers = Object.entries({ host: "127.0.0.1", ...browserHeaders("http://127.0.0.1") }).flat();

/** Sends a request for the page to a server. */
function requestPage(server) {
  const request = new IncomingMessage(connection);
  Object.assign(request, {
    method: "GET",
    url: "/table",
    httpVersion: "1.1",
    httpVersionMajor: 1,
    httpVersionMinor: 1,
  });
  request._addHeaderLines(headers, headers.length);
  request.complete = true;
  request.push(null);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = true;
  response.assignSocket(connection);
  const sent = new Promise((resolve) => response.once("finish", resolve));
  server.emit("request", request, response);
  return sent.then(() => response.detachSocket(connection));
}

/** Calculates for about as long as a page takes, in a loop of a few instructions. */
let seed = 1;
async function calculate() {
  let number = seed;
  for (let i = 0; i < 60_000; i++) number = (Math.imul(number, 1_103_515_245) + 12_345) | 0;
  seed = number;
}

await import("../peers/pages/preact.mjs");
const { default: app, serve } = await import(pathToFileURL(`${process.env.BENCH_APP}/dist/app.mjs`).href);
await serve(app);
const [bare, tsweb] = servers;

const reader = spawn(...pinned(1, "cat", []), { stdio: ["pipe", "ignore", "inherit"] });
const { fd } = reader.stdin._handle;
const response = Buffer.alloc(8_400);
const wake = () => {
  try {
    writeSync(fd, response);
  } catch (error) {
    if (error.code !== "EAGAIN") throw error; // the reader is behind
  }
};

/** Returns the time of one page, in µs. */
async function micros(work, after, forMillis) {
  const start = performance.now();
  let count = 0;
  while (performance.now() - start < forMillis) {
    for (let i = 0; i < BATCH; i++) {
      await work();
      after();
    }
    count += BATCH;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return ((performance.now() - start) * 1000) / count;
}

const kinds = {
  "a loop of arithmetic": calculate,
  "bare `preact-render-to-string`": () => requestPage(bare),
  tsweb: () => requestPage(tsweb),
};
const results = {};
for (const [name, work] of Object.entries(kinds)) {
  results[name] = { alone: [], waking: [] };
  await micros(work, () => undefined, WARM_UP_MS);
}
for (let round = 0; round < rounds; round++) {
  const order = Object.entries(kinds);
  for (const [name, work] of round % 2 === 0 ? order : order.reverse()) {
    const measures = [
      async () => results[name].alone.push(await micros(work, () => undefined, millis)),
      async () => results[name].waking.push(await micros(work, wake, millis)),
    ];
    for (const measure of round % 2 === 0 ? measures : measures.reverse()) await measure();
  }
}
reader.kill();
console.log(JSON.stringify(results));
process.exit();
