// Pages per second: the same table of fifty rows, rendered by several libraries and frameworks.
import { fileURLToPath } from "node:url";
import { buildApp, root, startApp } from "./lib/app.mjs";
import { buildFrameworks } from "./lib/builds.mjs";
import { browserHeaders, generator } from "./lib/load.mjs";
import { selectNode } from "./lib/nodes.mjs";
import { layout, startServer } from "./lib/processes.mjs";
import { measure, ratioTable } from "./lib/rounds.mjs";

/** A row in the middle, as every contestant must render it: apart from white space and comments. */
const ROW =
  '<tr class="even"><td><a href="/orders/1024">1024</a></td><td>Customer 24 &amp; Sons</td><td>Vienna</td><td class="number">900.00 €</td></tr>';

/** The oldest Node that Astro and SvelteKit support. */
const NODE_22 = 22;

const bench = fileURLToPath(new URL("./", import.meta.url));
const server =
  (file, ...options) =>
  ({ node }) =>
    startServer([...options, bench + file], { cwd: root, node });

const contestants = [
  {
    name: "bare `preact-render-to-string`",
    start: server("peers/pages/preact.mjs", "--import", "tsweb/register"),
  },
  { name: "tsweb", start: startApp },
  { name: "Solid `renderToString`", start: server("frameworks/solid/dist/server.js") },
  { name: "React `renderToString`", start: server("frameworks/react/dist/server.js") },
  { name: "Astro with Preact", start: server("peers/pages/astro.mjs"), minNode: NODE_22 },
  { name: "SvelteKit", start: server("peers/pages/sveltekit.mjs"), minNode: NODE_22 },
];

/** @param options `nodes`: the versions of Node to measure with; `rounds`, `seconds`, `warmUp`, `connections` */
export async function pages({ nodes, ...options }) {
  buildApp();
  buildFrameworks((await selectNode("24")).path);
  const sections = [];
  for (const node of nodes) sections.push(`### Node ${node.version}\n\n${await measureWith(node, options)}`);
  const { rounds, seconds, connections } = options;
  return [
    "## Pages",
    `${rounds} rounds of ${seconds} s in alternating order, ${connections} connections, load by ${generator}, ${layout}.`,
    "A table of fifty rows. Preact, Solid and React render only the table, behind a bare `node:http` server. tsweb, Astro and " +
      "SvelteKit send a whole document from their production server: tsweb with a view, its security headers and ids. " +
      "No server compresses. Astro and SvelteKit require Node 22.12.",
    ...sections,
  ].join("\n\n");
}

async function measureWith(node, options) {
  const major = Number.parseInt(node.version, 10);
  const servers = [];
  try {
    for (const { minNode = 0, ...contestant } of contestants)
      if (major >= minNode) servers.push(await startChecked(contestant, node));
    return ratioTable(await measure(servers, options), "pages");
  } finally {
    await Promise.all(servers.map(({ end }) => end()));
  }
}

async function startChecked({ name, start }, node) {
  const started = await start({ node: node.path });
  const target = { url: `${started.address}/table`, method: "GET", headers: browserHeaders(started.address) };
  const response = await fetch(target.url);
  const html = await response.text();
  if (!response.ok || !withoutNoise(html).includes(ROW)) {
    await started.end();
    throw new Error(`${name} responded with ${response.status} ${html.slice(0, 2_000)}`);
  }
  return { name, ...started, target };
}

const withoutNoise = (html) =>
  html
    .replace(/<!--.*?-->/gs, "")
    .replace(/>\s+/g, ">")
    .replace(/\s+</g, "<");
