// Installs, builds and serves an example: `npm start` serves accounts, `npm start -- <name>` another one.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildPackage, fail, installPackages, requireNode, root, run } from "./setup.mjs";

const name = process.argv[2] ?? "accounts";
const folder = join(root, "examples", name);
if (!existsSync(join(folder, "package.json"))) {
  fail(`Unknown example ${name}. Valid examples: ${readdirSync(join(root, "examples")).join(", ")}.`);
}
requireNode();
installPackages();
buildPackage();
run(process.execPath, [join(root, "bin", "tsweb.js"), "build", folder]);

// A built application runs in production by default, which requires a secret.
process.env.WEB_ENV ??= "development";
process.chdir(folder);
exitWithParent();
await import(pathToFileURL(join(folder, "dist", "server.mjs")).href);

/** Exits when npm is killed: npm signals only its shell, which does not pass the signal on. */
function exitWithParent() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const { ppid } = process;
  setInterval(() => process.ppid === ppid || process.kill(process.pid, "SIGTERM"), 500).unref();
}
