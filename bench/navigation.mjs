// Navigation in Chromium, through nginx and a network with a delay: the same pages of tsweb, SvelteKit and Next.
import { fileURLToPath } from "node:url";
import { buildApp, folder, settings } from "./lib/app.mjs";
import { buildNavigation } from "./lib/builds.mjs";
import { startDelayProxy } from "./lib/delay-proxy.mjs";
import { launchChromium } from "./lib/edits.mjs";
import { measureVisit, scriptBytes } from "./lib/navigations.mjs";
import { selectNode } from "./lib/nodes.mjs";
import { spread, table } from "./lib/numbers.mjs";
import { startServer } from "./lib/processes.mjs";
import { startNginx } from "./lib/programs.mjs";

const ROUND_TRIP_MS = 150;

const bench = fileURLToPath(new URL("./", import.meta.url));

// Not pinned to one core: the browser is what takes most of the time.
const sites = [
  { name: "tsweb", args: ["dist/server.mjs"], cwd: folder, env: { ...settings(), WEB_COMPRESS: "1" } },
  { name: "SvelteKit", args: ["peers/pages/sveltekit.mjs"], cwd: bench },
  { name: "Next", args: ["frameworks/next/server.mjs"], cwd: bench },
];

const TIMES = [
  ["a click, with the pointer on the link for a second before", "hovered"],
  ["a click at once", "clicked"],
  ["Back", "back"],
  ["the first byte of a page", "plainFirstByte"],
  ["the first byte of a page with a part that takes 2 s", "slowFirstByte"],
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
  buildApp();
  buildNavigation(node);
  // Playwright switches off the pages that Chromium keeps for Back.
  const browser = await launchChromium({ ignoreDefaultArgs: ["--disable-back-forward-cache"] });
  const started = [];
  try {
    for (const site of sites) started.push({ ...(await startSite(site, node)), visits: [] });
    for (let round = 0; round < rounds; round++)
      for (const site of round % 2 === 0 ? started : started.toReversed())
        site.visits.push(await measureVisit(browser, site.address));
    const bytes = [];
    for (const [label, path] of SCRIPTS) bytes.push([label, ...(await eachSite(browser, started, path))]);
    return report({ started, bytes, rounds, version });
  } finally {
    await browser.close();
    for (const { end } of started) await end();
  }
}

async function startSite({ name, args, cwd, env }, node) {
  const server = await startServer(args, { cwd, env, node, core: null });
  const nginx = await startNginx("navigation-nginx.conf", { upstream: new URL(server.address).port });
  const proxy = await startDelayProxy({ port: nginx.port, roundTripMs: ROUND_TRIP_MS });
  const end = async () => {
    for (const part of [proxy, nginx, server]) await part.end();
  };
  return { name, address: proxy.address, end };
}

async function eachSite(browser, started, path) {
  const cells = [];
  for (const { address } of started)
    cells.push(`${((await scriptBytes(browser, address + path)) / 1000).toFixed(1)} kB`);
  return cells;
}

function report({ started, bytes, rounds, version }) {
  const names = started.map(({ name }) => name);
  const times = TIMES.map(([label, key]) => [
    label,
    ...started.map(({ visits }) =>
      spread(
        visits.map((visit) => visit[key]),
        0,
      ),
    ),
  ]);
  return [
    "## Navigation",
    `${rounds} visits of each site in alternating order, each in a new profile of Chromium, through nginx, with a round trip of ${ROUND_TRIP_MS} ms ` +
      `and HTTP/1.1 (Node ${version}). Milliseconds until the page is painted, from the click or from the start of the request: the median, with minimum and ` +
      "maximum. SvelteKit preloads on hover, and Next prefetches each visible link completely.",
    table(["", ...names], times),
    "Scripts of a page, as they are transferred (gzip, or Brotli from tsweb), with those in the document:",
    table(["", ...names], bytes),
  ].join("\n\n");
}
