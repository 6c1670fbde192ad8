// Installs the npm packages, and the programs that tests run, if they are missing.
// This module imports only modules of Node, because it runs before any package is installed.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
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

/** The programs that tests run: their possible names, and their Debian packages. */
export const programs = {
  chromium: { names: ["chromium", "chromium-browser", "google-chrome"], debian: "chromium" },
  // Chromium without a window. The tests run faster with it, but not every system has a package of it.
  shell: { names: ["chromium-headless-shell"], debian: "chromium-headless-shell", isOptional: true },
  redis: { names: ["redis-server"], debian: "redis-server" },
  nats: { names: ["nats-server"], debian: "nats-server" },
  nginx: { names: ["nginx"], debian: "nginx" },
  caddy: { names: ["caddy"], debian: "caddy" },
  systemd: { names: ["systemd-analyze"], debian: "systemd" },
  // Engines whose absence the tests report; where CI is set, it fails.
  firefox: { names: ["firefox-esr"], debian: "firefox-esr", isOptional: true },
  webkit: { names: ["WebKitWebDriver"], debian: "webkit2gtk-driver", isOptional: true },
  display: { names: ["Xvfb"], debian: "xvfb", isOptional: true },
  openssl: { names: ["openssl"], debian: "openssl" },
};

/** Returns whether one of these programs is on the path, or in the folder where Debian installs servers. */
function isInstalled(names) {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return names.some((name) => folders.some((folder) => existsSync(join(folder, name))));
}

/**
 * Installs missing programs from Debian's packages. Without the permission to do so, it prints what to install and
 * exits. Optional programs are skipped when they cannot be installed.
 *
 * @param {readonly { names: string[], debian: string, isOptional?: boolean }[]} programs
 */
export function installPrograms(programs) {
  const missing = programs.filter(({ names }) => !isInstalled(names));
  const debianPackages = (list) => list.map(({ debian }) => debian).join(" ");
  const required = debianPackages(missing.filter(({ isOptional }) => !isOptional));
  const optional = debianPackages(missing.filter(({ isOptional }) => isOptional));
  const mayInstall = process.getuid?.() === 0 && isInstalled(["apt-get"]);
  if (required !== "" && !mayInstall)
    fail(
      `The tests require programs that are not on the path: ${required}.\nInstall them. On Debian:  sudo ${APT_INSTALL} ${required}`,
    );
  if (optional !== "" && !mayInstall)
    console.log(
      `Some tests need programs that are not on the path: ${optional}. On Debian:  sudo ${APT_INSTALL} ${optional}`,
    );
  if (missing.length === 0 || !mayInstall) return;
  console.log(`Installing ${debianPackages(missing)} (once) …`);
  const quiet = { env: { DEBIAN_FRONTEND: "noninteractive" } };
  const [command, ...install] = [...APT_INSTALL.split(" "), "-qq"];
  run(command, ["update", "-qq"], quiet);
  if (required !== "") run(command, [...install, ...required.split(" ")], quiet);
  if (optional === "") return;
  const { status } = spawnSync(command, [...install, ...optional.split(" ")], {
    env: { ...process.env, ...quiet.env },
  });
  if (status !== 0) console.log(`${optional} could not be installed; the tests take longer, or test less.`);
}

const APT_INSTALL = "apt-get install -y --no-install-recommends";
