// The memory of `tsweb dev` after edits, once everything that nothing refers to is collected.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { root } from "./app.mjs";
import { killAtExit } from "./processes.mjs";

/** A module that prints the memory of its process after a signal, in bytes. */
const REPORT_MEMORY = `data:text/javascript,${encodeURIComponent(`process.on("SIGUSR2", () => {
  for (let count = 0; count < 4; count++) gc();
  const { heapUsed, rss } = process.memoryUsage();
  console.log("MEMORY " + JSON.stringify({ heapUsed, rss }));
});`)}`;

/** How often the changed module is requested, in milliseconds. */
const POLL_MS = 5;

const TIMEOUT_MS = 20_000;

/**
 * Edits a view, and requests the page and the module after each edit, as a browser does.
 *
 * @param edit `page` and `module`: paths; `file`, `pattern` of the text to replace, `label(round)`: its replacement;
 *   `counts`: after how many edits the memory is measured
 * @returns `heapUsed` and `rss` after each count, in bytes
 */
export async function memoryAfterEdits(dir, { page, module, file, pattern, label, counts }) {
  const server = await startChild(dir);
  try {
    const get = async (path) => (await fetch(server.address + path)).text();
    await get(page);
    await get(module);
    const measured = [];
    for (let round = 1; round <= Math.max(...counts); round++) {
      writeFileSync(file, readFileSync(file, "utf8").replace(pattern, label(round)));
      const deadline = Date.now() + TIMEOUT_MS;
      // The parameter is that of an update: each version has its own URL.
      while (!(await get(`${module}?t=${Date.now()}`)).includes(label(round))) {
        if (Date.now() > deadline) throw new Error(`${module} did not contain ${label(round)}.`);
        await setTimeout(POLL_MS);
      }
      await get(page);
      if (counts.includes(round)) measured.push(await server.memory());
    }
    return measured;
  } finally {
    await server.end();
  }
}

/** Starts the process that serves, without the one that restarts it. */
async function startChild(dir) {
  const args = ["--expose-gc", "--import", REPORT_MEMORY, join(root, "dist", "cli", "dev", "child.js"), dir];
  const env = { ...process.env, NODE_ENV: "development", WEB_ENV: "development", HOST: "127.0.0.1", PORT: "0" };
  const child = spawn(process.execPath, args, { cwd: dir, env, stdio: ["ignore", "pipe", "inherit"] });
  killAtExit(child);
  const lines = createInterface({ input: child.stdout });
  const line = (pattern) =>
    new Promise((resolve, reject) => {
      const timer = globalThis.setTimeout(() => reject(new Error(`tsweb dev did not print ${pattern}.`)), TIMEOUT_MS);
      lines.on("line", function read(text) {
        const match = pattern.exec(text);
        if (!match) return;
        clearTimeout(timer);
        lines.off("line", read);
        resolve(match[1]);
      });
    });
  const address = (await line(/ready at (https?:\S+)/)).replace("localhost", "127.0.0.1");
  return {
    address,
    memory() {
      const report = line(/^MEMORY (.*)/);
      child.kill("SIGUSR2");
      return report.then(JSON.parse);
    },
    async end() {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
}
