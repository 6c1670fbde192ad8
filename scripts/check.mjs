// Runs every check of CI: format and lint, types, unused code, the package, sizes, tests with the check of imports.
// Checks that do not depend on each other run at the same time, one for each core.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { installPackages, requireNode, root, run } from "./setup.mjs";

const bin = (name) => join(root, "node_modules", ".bin", name);
const title = (text) => console.log(`\n— ${text}`);

/** Runs a command, and prints its output when it has ended. Exits this process if the command fails. */
async function check(name, [command, ...args]) {
  // `npm pack` would build again.
  const env = { ...process.env, npm_config_ignore_scripts: "true" };
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(chunk));
  const [status] = await once(child, "close");
  title(name);
  process.stdout.write(Buffer.concat(output));
  if (status !== 0) {
    console.error(`${name} failed with status ${status}.`);
    process.exit(1);
  }
}

/** Runs checks, one for each core at the same time. */
async function checkAll(checks) {
  const waiting = [...checks];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await check(...next);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
}

requireNode();
installPackages();
title("Build");
run(process.execPath, [join(root, "scripts", "build.mjs"), "--clean"]);
await checkAll([
  ["Unused code", [bin("knip")]],
  ["Format and lint", [bin("biome"), "ci", "--error-on-warnings", "."]],
  ["Types", [bin("tsc"), "--noEmit"]],
  ["Sizes", [process.execPath, join(root, "scripts", "sizes.mjs")]],
  ...readdirSync(join(root, "examples")).map((example) => [
    `Types of examples/${example}`,
    [bin("tsc"), "--noEmit", "-p", `examples/${example}`],
  ]),
  ["Types of the panel", [bin("tsc"), "--noEmit", "-p", "src/panel/app"]],
  ["Package", [bin("publint"), "--strict"]],
  ["Types of the package", [bin("attw"), "--pack", ".", "--profile", "esm-only"]],
]);
title("Tests");
run(process.execPath, [join(root, "scripts", "test.mjs"), "--built"]);
