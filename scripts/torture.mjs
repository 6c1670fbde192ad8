// Runs the torture test of live updates, and the tests with clients that never read and with abandoned streams, at full
// size:
// `npm run torture -- --runs 10 --bus redis --seed 1`. Without --bus, it uses Redis and then NATS. Each run adds 1 to the
// seed. `npm run torture -- restarts` restarts processes 10 times each behind nginx and Caddy, and workers, under load.
// `npm run torture -- clusters` kills and freezes the primary of a Redis with Sentinel, a Redis cluster and a NATS cluster 5
// times each. With --down-after 5000, Redis detects it after that time, in milliseconds. `npm run torture -- requests` sends
// requests ahead on 500 connections, to every host of an application. `npm run torture -- tabs` closes, reloads, freezes and
// crashes tabs of a browser 1,000 times.
// `npm run torture -- presence` has 1,000 users on three processes, of which one is killed and one frozen.
// `npm run torture -- queries` kills and freezes processes and the bus while pages show live queries, and then runs applications with
// deliberate faults, each of which it has to detect, and opens 5,000 pages with one query.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installPrograms, programsOf } from "./programs.mjs";
import { buildPackage, fail, installPackages, requireNode, root, run } from "./setup.mjs";

const {
  values: { runs, seed, bus, "down-after": downAfter },
  positionals: [suite = "live", ...rest],
} = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    bus: { type: "string" },
    "down-after": { type: "string", default: "2000" },
  },
});
const suites = {
  live: ["tests/fault/live-torture.test.ts", "tests/fault/live-memory.test.ts", "tests/fault/streams.test.ts"],
  restarts: ["tests/fault/restarts.test.ts"],
  clusters: ["tests/fault/clusters.test.ts"],
  requests: ["tests/fault/pipelining.test.ts"],
  tabs: ["tests/fault/tabs.test.ts"],
  presence: ["tests/fault/presence.test.ts"],
  queries: ["query-torture", "query-torture-faults", "query-memory"].map((name) => `tests/fault/${name}.test.ts`),
};
const tests = Object.hasOwn(suites, suite) && rest.length === 0 ? suites[suite] : undefined;
if (!tests) {
  fail(
    `Unknown torture run ${[suite, ...rest].join(" ")}. Valid runs: ${Object.keys(suites).join(", ")}; the default is live.`,
  );
}
for (const [name, value] of Object.entries({ runs, seed, "down-after": downAfter })) {
  if (!/^\d{1,9}$/.test(value)) fail(`--${name} must be a whole number of at most 9 digits; received ${value}.`);
}
if (bus !== undefined && !["redis", "nats"].includes(bus)) fail(`--bus must be redis or nats; received ${bus}.`);

requireNode();
installPackages();
installPrograms(programsOf(tests));
buildPackage();
run(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...tests], {
  env: {
    TORTURE_SIZE: "full",
    TORTURE_RUNS: runs,
    TORTURE_SEED: seed,
    TORTURE_DOWN_AFTER: downAfter,
    ...(bus ? { TORTURE_BUS: bus } : {}),
  },
});
