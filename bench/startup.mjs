// The time from `node dist/server.mjs` to its first page, compared with an empty Node process: of a small application and of
// the accounts example.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyAccounts } from "./lib/accounts.mjs";
import { build, root, settings } from "./lib/app.mjs";
import { median, spread, table } from "./lib/numbers.mjs";
import { startServer } from "./lib/processes.mjs";

/** Prints an address as a server does, and waits, so that its CPU time can be read. */
const EMPTY = 'console.log("ready at http://localhost:0");\nsetInterval(() => undefined, 60_000);\n';

/** Node reads these certificates when it starts or when it loads TLS, depending on its version, which takes up to 45 ms. */
const env = () => ({ ...settings(), NODE_EXTRA_CA_CERTS: undefined, NODE_OPTIONS: undefined });

const recorder = join(root, "tests", "support", "record-loaded.mjs");

export async function startup({ rounds, nodes }) {
  const empty = temporary((dir) => writeFileSync(join(dir, "empty.mjs"), EMPTY));
  const apps = [
    { name: "small: `tsweb new --template minimal`", ...copySmall() },
    { name: "the accounts example", ...copyAccounts() },
  ];
  try {
    for (const { dir } of apps) build(dir);
    const sections = [];
    for (const node of nodes) sections.push(await withNode(node, { apps, empty, rounds }));
    return `## Start\n\n${DESCRIPTION} ${rounds} rounds.\n\n${sections.join("\n\n")}`;
  } finally {
    for (const { remove } of [empty, ...apps]) remove();
  }
}

const DESCRIPTION =
  "Built applications, until the first page was received; by time, and by CPU time of the process: the median, with minimum " +
  "and maximum. “More” is compared with the empty process of the same round. Files and their size are those of the application " +
  "that the process has loaded.";

async function withNode({ version, path }, { apps, empty, rounds }) {
  const targets = [{ name: "an empty process", dir: empty.dir }, ...apps];
  const measured = targets.map(() => []);
  for (const { dir } of apps) await firstPage(dir, path); // since Node 22, the first process stores the compiled code
  for (let round = 0; round < rounds; round++) {
    const indexes = [...targets.keys()];
    for (const index of round % 2 === 0 ? indexes : indexes.toReversed()) {
      const { dir } = targets[index];
      measured[index].push(await (index === 0 ? emptyProcess(dir, path) : firstPage(dir, path)));
    }
  }
  const rows = [];
  for (const [index, { name, dir }] of targets.entries()) {
    const more = (key) => median(measured[index].map((each, round) => each[key] - measured[0][round][key])).toFixed(0);
    const column = (key) => [
      spread(
        measured[index].map((each) => each[key]),
        0,
      ),
      index === 0 ? "" : more(key),
    ];
    const loaded = index === 0 ? ["", ""] : await loadedBy(dir, path);
    rows.push([name, ...column("ms"), ...column("cpuMs"), ...loaded]);
  }
  return `### Node ${version}\n\n${table(["", "ms", "more", "CPU ms", "more", "files", "KiB"], rows)}`;
}

async function emptyProcess(cwd, node) {
  const start = performance.now();
  const server = await startServer(["empty.mjs"], { cwd, node, env: env() });
  const result = { ms: performance.now() - start, cpuMs: cpuMs(server.pid) };
  await server.end();
  return result;
}

async function firstPage(cwd, node, { nodeArgs = [], more = {} } = {}) {
  const start = performance.now();
  const server = await startServer([...nodeArgs, "dist/server.mjs"], { cwd, node, env: { ...env(), ...more } });
  try {
    const response = await fetch(server.address);
    const text = await response.text();
    const result = { ms: performance.now() - start, cpuMs: cpuMs(server.pid) };
    if (!response.ok || !text.includes("</html>")) throw new Error(`The first response was ${response.status} ${text}`);
    return result;
  } finally {
    await server.end();
  }
}

/** Returns how many files of the application a process loads until its first page, and their KiB. */
async function loadedBy(dir, node) {
  const file = join(dir, "loaded.json");
  await firstPage(dir, node, { nodeArgs: ["--import", recorder], more: { LOADED_FILE: file } });
  const scripts = JSON.parse(readFileSync(file, "utf8")).scripts.filter(
    ({ url }) => !url.endsWith("/record-loaded.mjs"),
  );
  return [scripts.length, (scripts.reduce((sum, { bytes }) => sum + bytes, 0) / 1024).toFixed(0)];
}

/** Returns the CPU time of all threads of a process. On other systems than Linux, it is not known. */
function cpuMs(pid) {
  if (process.platform !== "linux") return Number.NaN;
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
}

function copySmall() {
  return temporary((dir) => {
    cpSync(join(root, "template"), dir, { recursive: true });
    mkdirSync(join(dir, "node_modules"));
    symlinkSync(root, join(dir, "node_modules", "tsweb"), "dir");
  });
}

function temporary(fill) {
  const dir = mkdtempSync(join(tmpdir(), "tsweb-bench-"));
  fill(dir);
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }) };
}
