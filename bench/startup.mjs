// The time from `node dist/server.mjs` to its first response, compared with the start of an empty Node process.
import { spawn } from "node:child_process";
import { copyAccounts } from "./lib/accounts.mjs";
import { build, settings } from "./lib/app.mjs";
import { median, spread, table } from "./lib/numbers.mjs";
import { pinned, startServer } from "./lib/processes.mjs";

export async function startup({ rounds }) {
  const { dir, remove } = copyAccounts();
  try {
    build(dir);
    const empty = [];
    const served = [];
    for (let round = 0; round < rounds; round++) {
      empty.push(await emptyNode());
      served.push(await firstResponse(dir));
    }
    const difference = served.map((ms, round) => ms - empty[round]);
    const rows = [
      ["`node -e 0`", spread(empty, 0), ""],
      ["`node dist/server.mjs` until the first response", spread(served, 0), `${median(difference).toFixed(0)} more`],
    ];
    return `## Start\n\nThe accounts example, built; ${rounds} rounds, in ms: the median, with minimum and maximum.\n\n${table(["", "ms", ""], rows)}`;
  } finally {
    remove();
  }
}

async function emptyNode() {
  const start = performance.now();
  const [command, args] = pinned(0, process.execPath, ["-e", "0"]);
  const child = spawn(command, args, { stdio: "ignore" });
  await new Promise((resolve, reject) => child.once("exit", resolve).once("error", reject));
  return performance.now() - start;
}

async function firstResponse(dir) {
  const start = performance.now();
  const server = await startServer(["dist/server.mjs"], { cwd: dir, env: settings() });
  try {
    const response = await fetch(server.address);
    const text = await response.text();
    const ms = performance.now() - start;
    if (!response.ok || !text.includes("</html>")) throw new Error(`The first response was ${response.status} ${text}`);
    return ms;
  } finally {
    await server.end();
  }
}
