// A load generator over plain sockets: each connection sends its request again after it has received the whole
// response. Its argument is JSON: { url, method, headers, bodyFile, seconds, connections }.
import { readFileSync } from "node:fs";
import { connect } from "node:net";

const { url, method, headers, bodyFile, seconds, connections } = JSON.parse(process.argv[2]);
const body = readFileSync(bodyFile, "utf8");
const { hostname, port, host, pathname, search } = new URL(url);
const lines = Object.entries({ host, ...headers, ...(body ? { "content-length": Buffer.byteLength(body) } : {}) });
const request = Buffer.from(
  `${method} ${pathname}${search} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
);

let requests = 0;
let failed = 0;

function open() {
  const socket = connect(Number(port), hostname, () => socket.write(request));
  let pending = "";
  socket.setNoDelay(true);
  socket.setEncoding("latin1");
  socket.on("data", (chunk) => {
    pending += chunk;
    const length = responseLength(pending);
    if (length === null || pending.length < length) return;
    requests++;
    if (!pending.startsWith("HTTP/1.1 2")) failed++;
    pending = pending.slice(length);
    socket.write(request);
  });
  socket.on("error", () => failed++);
}

/** Returns the length of the first response in a text, or null while it is unknown. */
function responseLength(text) {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const head = text.slice(0, end);
  const declared = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (declared) return end + 4 + Number(declared[1]);
  const last = text.indexOf("\r\n0\r\n\r\n", end);
  return last === -1 ? null : last + 7;
}

const start = process.hrtime.bigint();
for (let i = 0; i < connections; i++) open();
setTimeout(() => {
  const micros = Number((process.hrtime.bigint() - start) / 1000n);
  process.stdout.write(JSON.stringify({ requests, micros, failed }), () => process.exit(0));
}, seconds * 1000);
