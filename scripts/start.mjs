// Sets all up and serves an example: `npm start` the accounts application, `npm start -- <name>` another.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildPackage, fail, installPackages, requireNode, root, run } from "./setup.mjs";

const name = process.argv[2] ?? "accounts";
const folder = join(root, "examples", name);
if (!existsSync(join(folder, "package.json"))) {
  fail(`There is no example ${name}. There are: ${readdirSync(join(root, "examples")).join(", ")}.`);
}
requireNode();
installPackages();
buildPackage();
run(process.execPath, [join(root, "bin", "tsweb.js"), "build", folder]);

// A built application is taken for production unless told otherwise, and would want a secret of its own.
process.env.WEB_ENV ??= "development";
process.chdir(folder);
endWithParent();
await import(pathToFileURL(join(folder, "dist", "server.mjs")).href);

/** Whoever ends npm ends this: npm tells its shell alone, which passes no signal on. */
function endWithParent() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const { ppid } = process;
  setInterval(() => process.ppid === ppid || process.kill(process.pid, "SIGTERM"), 500).unref();
}
