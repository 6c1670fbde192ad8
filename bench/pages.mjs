// Pages per second: a table of fifty rows and one view, compared with the same table from a bare server.
import { fileURLToPath } from "node:url";
import { buildApp, root, startApp } from "./lib/app.mjs";
import { browserHeaders, generator } from "./lib/load.mjs";
import { layout, startServer } from "./lib/processes.mjs";
import { measure, ratioTable } from "./lib/rounds.mjs";

/** A row in the middle, as every contestant must render it. */
const ROW =
  '<tr class="even"><td><a href="/orders/1024">1024</a></td><td>Customer 24 &amp; Sons</td><td>Vienna</td><td class="number">900.00 €</td></tr>';

const contestant = (name, start) => ({
  name,
  async open() {
    const server = await start();
    const target = { url: `${server.address}/table`, method: "GET", headers: browserHeaders(server.address) };
    const response = await fetch(target.url);
    const html = await response.text();
    if (!response.ok || !html.includes(ROW)) throw new Error(`${target.url} responded with ${response.status} ${html}`);
    return { target, pid: server.pid, end: server.end };
  },
});

const bare = contestant("bare `preact-render-to-string`", () =>
  startServer(["--import", "tsweb/register", fileURLToPath(new URL("peers/table.mjs", import.meta.url))], {
    cwd: root,
  }),
);

export async function pages({ rounds = 5, seconds = 1, connections = 32, warmUp = 2 } = {}) {
  buildApp();
  const rows = await measure([bare, contestant("tsweb", startApp)], { rounds, seconds, connections, warmUp });
  const how = `${rounds} rounds of ${seconds} s, ${connections} connections, load by ${generator}, ${layout}.`;
  return `## Pages\n\n${how}\n\n${ratioTable(rows, "pages")}`;
}
