// The measure of all others: node:http giving back the bytes it got, without looking at them.
import { createServer } from "node:http";
import { announce } from "./listen.mjs";

announce(
  createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
      response.end(body);
    });
  }),
);
