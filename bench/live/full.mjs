// What takes too long for a complete run: 20,000 streams, 1,000 channels, Redis and NATS, resuming, publishing, and memory
// over an hour's worth of messages.
import { spread, table } from "../lib/numbers.mjs";
import { compareLatency, compareLoad } from "./compare.mjs";
import { maxConnections, nchan, tsweb, tswebNats, tswebRedis } from "./contestants.mjs";
import { reportFailure } from "./failures.mjs";
import { measureMemory } from "./memory.mjs";
import { measurePublishing } from "./publishing.mjs";
import { measureResume } from "./resume.mjs";

const WANTED_CONNECTIONS = 20_000;
const RESUMED_CONNECTIONS = 5_000;
const LISTENING_PROCESSES = 8;

/**
 * Returns the sections of `npm run bench -- live --full`.
 *
 * @param settings `only`: a part of the name of the measured ones, from `streams`, `channels`, `latency`, `resume`,
 *   `publishing`, `memory`
 */
export async function liveFull(contestants, { only = "", ...settings }) {
  const all = [...contestants, tswebRedis, tswebNats];
  const parts = {
    streams: () => compareStreams(all, settings),
    channels: () => compareLoad(all, { ...settings, connections: RESUMED_CONNECTIONS, channels: 1_000 }),
    latency: () => compareLatency(all, { ...settings, connections: 1_000 }),
    resume: () => compareResume(contestants, settings),
    publishing: () => comparePublishing(settings),
    memory: measureMemory,
  };
  const selected = Object.keys(parts).filter((name) => name.includes(only));
  if (selected.length === 0) throw new Error(`Unknown part ${only}. Valid parts: ${Object.keys(parts).join(", ")}.`);
  const sections = [];
  for (const name of selected) sections.push(await sectionOf(name, parts[name]));
  return sections;
}

/** Returns the section of a part; the message of its error if it fails, so that the other parts are measured. */
async function sectionOf(name, measure) {
  const start = performance.now();
  try {
    return await measure();
  } catch (error) {
    return `### ${name}\n\nThis part failed: ${reportFailure(name, error)}`;
  } finally {
    process.stderr.write(`${name}: ${((performance.now() - start) / 60_000).toFixed(1)} minutes\n`);
  }
}

/** Compares the servers with as many streams as the system allows. */
async function compareStreams(contestants, settings) {
  const connections = Math.min(WANTED_CONNECTIONS, maxConnections);
  const section = await compareLoad(contestants, { ...settings, connections });
  return connections < WANTED_CONNECTIONS ? `${section}\n\n${LIMITED}` : section;
}

const LIMITED = `The system allows no more than ${maxConnections.toLocaleString("en")} connections of one process: see \`ulimit -Hn\`. To measure ${WANTED_CONNECTIONS.toLocaleString("en")}, start the benchmark in a shell of root after \`ulimit -n 21000\`, or in a container with \`--ulimit nofile=21000\`.`;

async function compareResume(contestants, { rounds }) {
  const rows = [];
  for (const contestant of [tsweb, tswebRedis, tswebNats, ...(contestants.includes(nchan) ? [nchan] : [])]) {
    const measure = () => measureResume(contestant, { connections: RESUMED_CONNECTIONS });
    rows.push([contestant.name, ...(await cellsOfRuns(contestant.name, rounds, measure, (runs) => [spread(runs, 0)]))]);
  }
  const count = RESUMED_CONNECTIONS.toLocaleString("en");
  return `### Resuming\n\nThe time until ${count} streams of one channel that were cut at once are connected again and have every message of the meantime. The bare server and better-sse store no messages.\n\n${table(["", "ms"], rows)}`;
}

const published = (runs) => runs.map((run) => run.published);
const received = (runs) => runs.map((run) => run.received);

/** Measures in each round, and returns the cells of the results; the message of the first error if one fails. */
async function cellsOfRuns(name, rounds, measure, cells) {
  const runs = [];
  try {
    for (let round = 0; round < rounds; round++) runs.push(await measure());
    return cells(runs);
  } catch (error) {
    return [`failed: ${reportFailure(name, error)}`];
  }
}

async function comparePublishing({ rounds }) {
  const rows = [];
  for (const bus of ["redis", "nats"]) {
    for (const processes of [1, LISTENING_PROCESSES]) {
      const name = bus === "redis" ? "Redis" : "NATS";
      const measure = () => measurePublishing(bus, { processes });
      const rates = (runs) => [spread(published(runs), 0), spread(received(runs), 0)];
      rows.push([name, String(processes), ...(await cellsOfRuns(name, rounds, measure, rates))]);
    }
  }
  const head = [
    "",
    "processes with a stream",
    "messages published per second",
    "messages received per second, by each",
  ];
  return `### One process that publishes\n\nMessages of one channel, 256 on their way at a time, and at most 500 that a process has not received. “Received” is the rate until every process has every message. All processes and the bus share the cores of the machine.\n\n${table(head, rows)}`;
}
