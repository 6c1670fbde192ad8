// Event streams with better-sse, as its guide about channels begins.
import { createServer } from "node:http";
import { createChannel, createSession } from "better-sse";
import { announce } from "../listen.mjs";

const channels = new Map();

function channelOf(name) {
  if (!channels.has(name)) channels.set(name, createChannel());
  return channels.get(name);
}

announce(
  createServer(async (request, response) => {
    const name = request.url.slice("/ticks/".length);
    if (request.method === "POST") {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      channelOf(name).broadcast(JSON.parse(Buffer.concat(chunks)));
      response.writeHead(204).end();
      return;
    }
    channelOf(name).register(await createSession(request, response));
  }),
);
