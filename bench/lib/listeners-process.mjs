// Reads event streams over plain sockets, and counts messages by the `~` that each contains once.
// Arguments: the URL, and the number of connections. It prints "ready" when all have started, and for each input line
// a line of JSON with what it has received since the last one: { messages, micros }.
import { connect } from "node:net";
import { createInterface } from "node:readline";

const { hostname, port, host, pathname, search } = new URL(process.argv[2]);
const connections = Number(process.argv[3]);
/** Each connection has a client address of its own, because tsweb limits the live requests of one client. */
const requestOf = (n) =>
  `GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n` +
  `x-forwarded-for: 10.0.${n >> 8}.${n & 255}\r\n\r\n`;
const MARK = "~".charCodeAt(0);

let messages = 0;
let since = process.hrtime.bigint();

function open(n) {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(requestOf(n)));
    let hasStarted = false;
    socket.on("data", (chunk) => {
      if (!hasStarted) {
        hasStarted = true;
        if (!chunk.toString("latin1").startsWith("HTTP/1.1 200")) reject(new Error(chunk.toString()));
        resolve();
      }
      for (let at = chunk.indexOf(MARK); at !== -1; at = chunk.indexOf(MARK, at + 1)) messages++;
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("An event stream has ended.")));
  });
}

for (let left = connections; left > 0; left -= 100)
  await Promise.all(Array.from({ length: Math.min(100, left) }, (_, n) => open(connections - left + n)));
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "end") process.exit(0);
  const now = process.hrtime.bigint();
  console.log(JSON.stringify({ messages, micros: Number((now - since) / 1000n) }));
  messages = 0;
  since = now;
}
