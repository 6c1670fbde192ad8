// What a fresh machine lacks, installed: the npm packages, and for the tests the programs they run.
// Plain Node, without a package: it runs before any is there.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** Runs a command to its end with its output shown; ends this process when it fails. */
export function run(command, args, { env = {}, cwd = root } = {}) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: "inherit", env: { ...process.env, ...env } });
  if (error) fail(`${command} could not be started: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Stops with a clear word on a Node that is too old. */
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
  const lock = join(folder, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log(`Installing packages (once)${folder === root ? "" : ` in ${relative(root, folder)}`} …`);
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const workspaces = folder === root ? [] : ["--no-workspaces"];
  run(npm, ["ci", ...workspaces, "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder });
}

/** Builds the package itself: src/ to dist/. */
export function buildPackage() {
  run(process.execPath, [join(root, "scripts", "build.mjs")]);
}

/** What tests run that is no package: the names it may have, and Debian's package of it. */
export const programs = {
  chromium: { names: ["chromium", "chromium-browser", "google-chrome"], debian: "chromium" },
  // Chromium without its window: it makes the tests faster, and not every system has it.
  shell: { names: ["chromium-headless-shell"], debian: "chromium-headless-shell", isOptional: true },
  redis: { names: ["redis-server"], debian: "redis-server" },
  nats: { names: ["nats-server"], debian: "nats-server" },
  nginx: { names: ["nginx"], debian: "nginx" },
};

/** Finds a program on the path, or where Debian keeps servers. */
function find(names) {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return names.some((name) => folders.some((folder) => existsSync(join(folder, name))));
}

/**
 * Installs the programs that tests run, from the system's packages where we may, and else says
 * what to install. Those that the tests can do without are left out where they cannot be had.
 *
 * @param {readonly { names: string[], debian: string, isOptional?: boolean }[]} programs
 */
export function installPrograms(programs) {
  const missing = programs.filter(({ names }) => !find(names));
  const packagesOf = (list) => list.map(({ debian }) => debian).join(" ");
  const needed = packagesOf(missing.filter(({ isOptional }) => !isOptional));
  const wanted = packagesOf(missing.filter(({ isOptional }) => isOptional));
  const mayInstall = process.getuid?.() === 0 && find(["apt-get"]);
  if (needed !== "" && !mayInstall)
    fail(
      `The tests need these programs, which are not on the path: ${needed}.\nInstall them, on Debian with:  sudo ${APT_INSTALL} ${needed}`,
    );
  if (missing.length === 0 || !mayInstall) return;
  console.log(`Installing ${packagesOf(missing)} (once) …`);
  const quiet = { env: { DEBIAN_FRONTEND: "noninteractive" } };
  const [command, ...install] = [...APT_INSTALL.split(" "), "-qq"];
  run(command, ["update", "-qq"], quiet);
  if (needed !== "") run(command, [...install, ...needed.split(" ")], quiet);
  if (wanted === "") return;
  const { status } = spawnSync(command, [...install, ...wanted.split(" ")], { env: { ...process.env, ...quiet.env } });
  if (status !== 0) console.log(`The tests go on without ${wanted}, which cannot be had here: they take longer.`);
}

const APT_INSTALL = "apt-get install -y --no-install-recommends";
