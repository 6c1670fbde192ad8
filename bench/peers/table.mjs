// The measured table only, rendered to a string for each request.
import { createServer } from "node:http";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { rows, Table } from "../app/src/table.tsx";
import { announce } from "./listen.mjs";

announce(
  createServer((_request, response) => {
    const html = `<!doctype html><html lang="en"><body>${renderToString(h(Table, { rows }))}</body></html>`;
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-length": Buffer.byteLength(html) });
    response.end(html);
  }),
);
