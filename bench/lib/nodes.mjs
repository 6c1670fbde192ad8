// The versions of Node that servers are measured with.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { runnerImport } from "vite";
import { fail, root } from "../../scripts/setup.mjs";

const current = { path: process.execPath, version: process.versions.node };

/**
 * Returns a Node: that of this process, that of a path, or that of a major version, installed through npm like those of
 * `npm run matrix`.
 *
 * @param selection a path, or a major version; the current one by default
 */
export async function selectNode(selection) {
  if (selection === undefined || selection === process.versions.node.split(".")[0]) return current;
  const path = /^\d+$/.test(selection) ? await installedNode(selection) : selection;
  const { stdout, error } = spawnSync(path, ["--version"], { encoding: "utf8" });
  const version = /^v(\d+\.\d+\.\d+)/.exec(stdout ?? "")?.[1];
  if (version === undefined) fail(`--node ${selection} is no Node: ${error?.message ?? stdout}`);
  return { path, version };
}

async function installedNode(major) {
  const runtimes = join(root, "tests", "support", "runtimes.ts");
  const { module } = await runnerImport(runtimes, { logLevel: "error" });
  return module.installedProgram({ program: "node", range: major });
}
