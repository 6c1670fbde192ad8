// Live updates: messages delivered to many event streams, compared with node:http writing one shared buffer, with
// better-sse, and with nginx and nchan.
import { buildApp } from "./lib/app.mjs";
import { layout, onLoadCore } from "./lib/processes.mjs";
import { installLivePrograms } from "./lib/programs.mjs";
import { compareLatency, compareLoad } from "./live/compare.mjs";
import { bare, betterSse, nchan, tsweb } from "./live/contestants.mjs";
import { liveFull } from "./live/full.mjs";

/**
 * @param options `rounds`; `seconds` under load and `latencySeconds` at half of the load in a round; `connections`: the
 *   numbers of streams; `isFull`: everything, in about 12 minutes, or the part whose name contains `only`
 */
export async function live({ isFull, ...settings }) {
  const contestants = [bare, tsweb, betterSse, ...(installLivePrograms() ? [nchan] : [])];
  buildApp();
  const { rounds } = settings;
  const head = [
    // The results of `--full` have a heading of their own in docs/benchmarks.md.
    ...(isFull ? [] : ["## Live updates"]),
    `${rounds === 1 ? "One round" : `${rounds} rounds in alternating order`}, ${layout}; a message is 75 bytes of JSON, published by a request of its own. Each ` +
      "stream checked that it received every message once and in order.",
  ];
  const compare = () => (isFull ? liveFull(contestants, settings) : liveUsual(contestants, settings));
  return [...head, ...(await onLoadCore(compare))].join("\n\n");
}

async function liveUsual(contestants, { connections, ...settings }) {
  const sections = [];
  for (const streams of connections)
    sections.push(await compareLoad(contestants, { ...settings, connections: streams }));
  sections.push(await compareLatency(contestants, { ...settings, connections: connections[0] }));
  return sections;
}
