// A bare server of one document whose body is rendered for each request.
import { createServer } from "node:http";
import { announce } from "../listen.mjs";

export function servePage(render) {
  announce(
    createServer((_request, response) => {
      const html = `<!doctype html><html lang="en"><body>${render()}</body></html>`;
      response.writeHead(200, {
        "content-type": "text/html; charset=utf-8",
        "content-length": Buffer.byteLength(html),
      });
      response.end(html);
    }),
  );
}
