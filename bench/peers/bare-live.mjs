// Event streams with node:http only: one shared buffer is written to every stream.
import { createServer } from "node:http";
import { announce } from "./listen.mjs";

const listeners = new Set();
let count = 1_000_000;

function broadcast(request, response) {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const frame = Buffer.from(`id: 0abcdefg.00000${count++}\ndata: ticks\ndata: ${Buffer.concat(chunks)}\n\n`);
    for (const listener of listeners) listener.write(frame);
    response.writeHead(204).end();
  });
}

announce(
  createServer((request, response) => {
    if (request.method === "POST") return broadcast(request, response);
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write("retry: 1000\n\n");
    listeners.add(response);
    response.on("close", () => listeners.delete(response));
  }),
);
