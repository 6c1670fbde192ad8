// The baseline: node:http returns the received bytes without parsing them.
import { createServer } from "node:http";
import { announce } from "../listen.mjs";

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
