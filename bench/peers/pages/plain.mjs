// The pages of `navigation` as plain documents with speculation rules: what the browser takes for them, without a framework.
import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { rows } from "../../app/src/rows.ts";
import { announce } from "../listen.mjs";

const RULES = JSON.stringify({ prefetch: [{ where: { href_matches: "/*" }, eagerness: "moderate" }] });
const HEADERS = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", "x-accel-buffering": "no" };

const escapeAmpersand = (text) => text.replaceAll("&", "&amp;");
const documentOf = (title, main) =>
  `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,">` +
  `<script type="speculationrules">${RULES}</script></head><body><main><h1>${title}</h1>${main}</main></body></html>`;

const links = rows.map(
  ({ id, customer }) => `<li><a id="order-${id}" href="/navigation/orders/${id}">${escapeAmpersand(customer)}</a></li>`,
);
const COUNTER = "<button onclick='this.textContent++'>0</button>";

const server = createServer(async ({ url }, response) => {
  response.writeHead(200, HEADERS);
  if (url === "/navigation") return response.end(documentOf("Orders", `<ul>${links.join("")}</ul>`));
  if (url === "/navigation/counter") return response.end(documentOf("Counter", COUNTER));
  if (url === "/navigation/slow") {
    response.write(documentOf("Figures", "").replace("</main></body></html>", ""));
    await wait(2_000);
    return response.end(`<p id="figures">${rows.length} orders</p></main></body></html>`);
  }
  const row = rows.find(({ id }) => url === `/navigation/orders/${id}`);
  return response.end(
    row
      ? documentOf(`Order ${row.id}`, `<p>${escapeAmpersand(row.customer)}, ${row.city}: ${row.total}</p>`)
      : documentOf("Not found", ""),
  );
});
announce(server);
