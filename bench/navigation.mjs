// Navigation in Chromium, through nginx and a network with a delay: the same pages of tsweb, SvelteKit and Next, and as plain documents,
// which show what the browser itself takes.
import { fileURLToPath } from "node:url";
import { buildApp, settings, siteFolder } from "./lib/app.mjs";
import { buildNavigation } from "./lib/builds.mjs";
import { startDelayProxy } from "./lib/delay-proxy.mjs";
import { launchChromium } from "./lib/edits.mjs";
import { HOVER_MS, measureVisit, scriptBytes } from "./lib/navigations.mjs";
import { selectNode } from "./lib/nodes.mjs";
import { median, quantile, table } from "./lib/numbers.mjs";
import { startServer } from "./lib/processes.mjs";
import { startNginx } from "./lib/programs.mjs";

const ROUND_TRIP_MS = 150;

const bench = fileURLToPath(new URL("./", import.meta.url));

// Not pinned to one core: the browser is what takes most of the time.
const sites = [
  { name: "tsweb", args: ["dist/server.mjs"], cwd: siteFolder, env: { ...settings(), WEB_COMPRESS: "1" } },
  { name: "plain documents", args: ["peers/pages/plain.mjs"], cwd: bench },
  { name: "SvelteKit", args: ["peers/pages/sveltekit.mjs"], cwd: bench, hydrates: true },
  { name: "Next", args: ["frameworks/next/server.mjs"], cwd: bench, hydrates: true },
];

const TIMES = [
  [`a click, with the pointer on the link for ${HOVER_MS} ms before`, "hovered"],
  ["a click at once", "clicked"],
  ["Back", "back"],
  ["the first byte of a page", "plainFirstByte"],
  ["the first byte of a page with a part that takes 2 s", "slowFirstByte"],
  ["the difference of these two, in pairs", "difference"],
  ["that page shows its heading", "slowHeading"],
  ["it shows the part", "slowPart"],
  ["it is complete", "slowComplete"],
];

const SCRIPTS = [
  ["a page without a view", "/navigation/orders/1001"],
  ["a page with a part that follows", "/navigation/slow"],
  ["a page with a counter", "/navigation/counter"],
];

/** @param options `rounds`: how often each site is visited, in alternating order */
export async function navigation({ rounds }) {
  const { path: node, version } = await selectNode("24");
  buildApp(siteFolder);
  buildNavigation(node);
  // Playwright switches off the pages that Chromium keeps for Back.
  const browser = await launchChromium({ ignoreDefaultArgs: ["--disable-back-forward-cache"] });
  const started = [];
  try {
    for (const site of sites) started.push({ ...(await startSite(site, node)), visits: [] });
    for (let round = 0; round < rounds; round++)
      for (const site of round % 2 === 0 ? started : started.toReversed())
        site.visits.push(await measureVisit(browser, site));
    const bytes = [];
    for (const [label, path] of SCRIPTS) bytes.push([label, ...(await eachSite(browser, started, path))]);
    return report({ started, bytes, rounds, version });
  } finally {
    await browser.close();
    for (const { end } of started) await end();
  }
}

async function startSite({ name, args, cwd, env, hydrates }, node) {
  const server = await startServer(args, { cwd, env, node, core: null });
  const nginx = await startNginx("navigation-nginx.conf", { upstream: new URL(server.address).port });
  const proxy = await startDelayProxy({ port: nginx.port, roundTripMs: ROUND_TRIP_MS });
  const end = async () => {
    for (const part of [proxy, nginx, server]) await part.end();
  };
  return { name, hydrates, address: proxy.address, end };
}

async function eachSite(browser, started, path) {
  const cells = [];
  for (const { address } of started)
    cells.push(`${((await scriptBytes(browser, address + path)) / 1000).toFixed(1)} kB`);
  return cells;
}

function report({ started, bytes, rounds, version }) {
  const names = started.map(({ name }) => name);
  const cellOf = (key) => (site) => {
    const times = site.visits.flatMap((visit) => visit[key]);
    return `${median(times).toFixed(0)}, p95 ${quantile(times, 0.95).toFixed(0)} (${times.length})`;
  };
  const shareOf = (key) => (site) => {
    const count = site.visits.reduce((sum, visit) => sum + visit[key], 0);
    return site.hydrates ? "–" : `${count} of ${site.visits.flatMap(({ hovered }) => hovered).length}`;
  };
  const rows = [
    ...TIMES.map(([label, key]) => [label, ...started.map(cellOf(key))]),
    ["documents at the click that were prefetched", ...started.map(shareOf("prefetched"))],
    ["documents that Chromium had kept for Back", ...started.map(shareOf("restored"))],
  ];
  return [
    "## Navigation",
    `${rounds} visits of each site in alternating order, each in a new profile of Chromium, through nginx, with a round trip of ${ROUND_TRIP_MS} ms ` +
      `and HTTP/1.1 (Node ${version}). Milliseconds until the page is painted, from the click or from the start of the request: the median, the 95th ` +
      "percentile, and how often it was measured, after one click and one Back without measuring. Plain documents have speculation rules and nothing else: " +
      "they are what the browser takes. SvelteKit preloads on hover, and Next prefetches each visible link completely; both are hydrated before the first hover. " +
      "First bytes are those of requests over new connections, which take two round trips.",
    table(["", ...names], rows),
    "Scripts of a page, as they are transferred (gzip, or Brotli from tsweb), with those in the document:",
    table(["", ...names], bytes),
  ].join("\n\n");
}
