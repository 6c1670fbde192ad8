// From the start of `node dist/server.mjs` to its first answer, over the start of a Node that does nothing.
import { spawn } from "node:child_process";
import { copyAccounts } from "./lib/accounts.mjs";
import { build, settings } from "./lib/app.mjs";
import { median, spread, table } from "./lib/numbers.mjs";
import { pinned, startServer } from "./lib/processes.mjs";

export async function startup({ rounds = 10 } = {}) {
  const { dir, remove } = copyAccounts();
  try {
    build(dir);
    const empty = [];
    const served = [];
    for (let round = 0; round < rounds; round++) {
      empty.push(await emptyNode());
      served.push(await firstAnswer(dir));
    }
    const over = served.map((ms, round) => ms - empty[round]);
    const rows = [
      ["`node -e 0`", spread(empty, 0), ""],
      ["`node dist/server.mjs`, to the first answer", spread(served, 0), `${median(over).toFixed(0)} over it`],
    ];
    return `## Start\n\nThe accounts example, built; ${rounds} rounds, in ms: the median, and the least and the most.\n\n${table(["", "ms", ""], rows)}`;
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

async function firstAnswer(dir) {
  const start = performance.now();
  const server = await startServer(["dist/server.mjs"], { cwd: dir, env: settings() });
  try {
    const response = await fetch(server.address);
    const text = await response.text();
    const ms = performance.now() - start;
    if (!response.ok || !text.includes("</html>")) throw new Error(`The first answer was ${response.status} ${text}`);
    return ms;
  } finally {
    await server.end();
  }
}
