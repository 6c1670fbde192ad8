// The pages of `queries`: event streams over plain sockets, of which bytes and frames are counted, and calls. It answers each line of
// JSON: `{ address, connections, body }` opens event streams, `{ ask }` lets each page call a function, and each answer has what
// was received since the last one.
import { connect } from "node:net";
import { createInterface } from "node:readline";

const BATCH = 100;

/** How many pages call at the same time. */
const CALLS = 64;

let url;
let connections = 0;
let bytes = 0;
let frames = 0;

const addressOf = (page) => `10.${page >> 16}.${(page >> 8) & 255}.${page & 255}`;

const headOf = (path, page, body) =>
  `POST ${path} HTTP/1.1\r\nhost: ${url.host}\r\norigin: ${url.origin}\r\nx-forwarded-for: ${addressOf(page)}\r\n` +
  `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

function openStream(page, body) {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname, () => socket.write(headOf("/__web/live", page, body)));
    let isOpen = false;
    socket.on("data", (chunk) => {
      if (!isOpen && chunk.toString("latin1", 9, 12) !== "200") return reject(new Error(chunk.toString()));
      isOpen = true;
      resolve();
      bytes += chunk.length;
      if (chunk.includes("event: query") || chunk.includes("data: ticks-")) frames++;
    });
    socket.on("error", reject);
  });
}

/** Calls a function for some pages, one after the other, over one connection. */
function callFor(pages, fn) {
  const body = '{"args":{}}';
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname);
    let at = 0;
    let expected = 0;
    let received = 0;
    const next = () => {
      if (at === pages.length) return resolve(socket.destroy());
      [expected, received] = [0, 0];
      socket.write(headOf(`/__web/rpc/${fn}`, pages[at++], body));
    };
    socket.on("connect", next);
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      received += chunk.length;
      if (expected === 0) {
        const head = chunk.toString("latin1");
        const length = /content-length: (\d+)/i.exec(head)?.[1];
        if (length === undefined || !head.startsWith("HTTP/1.1 200")) return reject(new Error(head.slice(0, 500)));
        expected = head.indexOf("\r\n\r\n") + 4 + Number(length);
      }
      if (received >= expected) next();
    });
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const options = JSON.parse(line);
  if (options.address) {
    url = new URL(options.address);
    connections = options.connections;
    for (let first = 0; first < connections; first += BATCH) {
      const pages = Array.from({ length: Math.min(BATCH, connections - first) }, (_, i) => first + i);
      await Promise.all(pages.map((page) => openStream(page, options.body)));
    }
  }
  if (options.ask) {
    const pages = Array.from({ length: connections }, (_, page) => page);
    await Promise.all(
      Array.from({ length: CALLS }, (_, i) =>
        callFor(
          pages.filter((page) => page % CALLS === i),
          options.ask,
        ),
      ),
    );
  }
  console.log(JSON.stringify({ bytes, frames }));
  [bytes, frames] = [0, 0];
}
