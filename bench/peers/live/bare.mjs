// Event streams with node:http only: one shared buffer is written to every stream of a channel.
import { createServer } from "node:http";
import { announce } from "../listen.mjs";

const channels = new Map();
let count = 1_000_000;

function streamsOf(name) {
  if (!channels.has(name)) channels.set(name, new Set());
  return channels.get(name);
}

function broadcast(name, request, response) {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const frame = Buffer.from(`id: 0abcdefg.00000${count++}\ndata: ${name}\ndata: ${Buffer.concat(chunks)}\n\n`);
    for (const stream of streamsOf(name)) stream.write(frame);
    response.writeHead(204).end();
  });
}

announce(
  createServer((request, response) => {
    const name = request.url.slice("/ticks/".length);
    if (request.method === "POST") return broadcast(name, request, response);
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write("retry: 1000\n\n");
    streamsOf(name).add(response);
    response.on("close", () => streamsOf(name).delete(response));
  }),
);
