// Installs the npm packages if they are missing, and builds the package.
// This module imports only modules of Node, because it runs before any package is installed.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** Runs a command and shows its output. Exits this process if the command fails. */
export function run(command, args, { env = {}, cwd = root } = {}) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: "inherit", env: { ...process.env, ...env } });
  if (error) fail(`${command} could not be started: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

/** Prints a message and exits with status 1. */
export function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Exits with a message when Node is too old. */
export function requireNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`tsweb needs Node 20.19 or newer; this is ${process.version}. Install a newer Node and run this again.`);
  }
}

/**
 * Installs the npm packages of a folder, unless the versions in its package-lock.json are installed already.
 *
 * @param {string} [folder] a folder with a package.json of its own; the repository by default
 */
export function installPackages(folder = root) {
  const installed = join(folder, "node_modules", ".package-lock.json");
  // npm ci refuses the lock file of packages of which npm finds no version for some platform: such a folder has none.
  const isLocked = existsSync(join(folder, "package-lock.json"));
  const list = join(folder, isLocked ? "package-lock.json" : "package.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(list).mtimeMs) return;
  console.log(`Installing packages (once)${folder === root ? "" : ` in ${relative(root, folder)}`} …`);
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const workspaces = folder === root ? [] : ["--no-workspaces"];
  const command = isLocked ? ["ci"] : ["install", "--no-package-lock"];
  run(npm, [...command, ...workspaces, "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder });
}

/** Builds the package itself: src/ to dist/. */
export function buildPackage() {
  run(process.execPath, [join(root, "scripts", "build.mjs")]);
}
