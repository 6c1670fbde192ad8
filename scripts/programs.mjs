// The programs that tests start, besides Node: which of them test files need, and their installation.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { fail, root, run } from "./setup.mjs";

/** The programs: their possible names, and their Debian packages. */
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
};

/**
 * Checks metrics, in `npm run matrix -- metrics` only. Its package also has the server Prometheus, which would run as a service: so
 * only this file of it is installed.
 */
export const promtool = { names: ["promtool"], debian: "prometheus", file: "usr/bin/promtool" };

/**
 * Returns the programs that test files start: those whose name is a string in a file, or in a module of tests/ that it
 * imports. It may return one that no test starts, but misses none.
 *
 * @param {readonly string[]} files their paths, relative to the repository
 */
export function programsOf(files) {
  const strings = new Set([...withImports(files)].flatMap((file) => stringsIn(readFileSync(join(root, file), "utf8"))));
  return Object.values(programs).filter(({ names }) => names.some((name) => strings.has(name)));
}

/** Returns files, and the modules of tests/ that they import, directly or not. */
function withImports(files) {
  const found = new Set(files);
  for (const file of found) {
    const code = readFileSync(join(root, file), "utf8").replace(/^import type .*$/gm, "");
    const imports = code.matchAll(/\b(?:from|import\(|import) ?"(#test\/|\.[^"]*)([^"]*)"/g);
    for (const [, start, rest] of imports) {
      const path = start === "#test/" ? `tests/support/${rest}.ts` : join(file, "..", start + rest);
      if (path.startsWith("tests/") && path.endsWith(".ts") && existsSync(join(root, path))) found.add(path);
    }
  }
  return found;
}

/** Returns the strings in a module; of paths, their last part: that of "/usr/bin/chromium" is "chromium". */
function stringsIn(code) {
  return [...code.matchAll(/"(?:[^"\n]*\/)?([\w-]+)"/g)].map(([, name]) => name);
}

/** Returns whether one of these programs is on the path, or in the folder where Debian installs servers. */
function isInstalled(names) {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return names.some((name) => folders.some((folder) => existsSync(join(folder, name))));
}

/**
 * Installs missing programs from Debian's packages. Without the permission to do so, it prints what to install and
 * exits. Optional programs are skipped when they cannot be installed.
 *
 * @param {readonly { names: string[], debian: string, file?: string, isOptional?: boolean }[]} programs
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
  for (const { debian, file } of missing) if (file) installFile(debian, file);
  const packages = debianPackages(missing.filter(({ file, isOptional }) => !file && !isOptional));
  if (packages !== "") run(command, [...install, ...packages.split(" ")], quiet);
  if (optional === "") return;
  const { status } = spawnSync(command, [...install, ...optional.split(" ")], {
    env: { ...process.env, ...quiet.env },
  });
  if (status !== 0) console.log(`${optional} could not be installed; the tests take longer, or test less.`);
}

/** Copies one file of a Debian package to /usr/local/bin. */
function installFile(debian, file) {
  const folder = mkdtempSync(join(tmpdir(), "tsweb-package-"));
  process.once("exit", () => rmSync(folder, { recursive: true }));
  run("apt-get", ["download", "-qq", "-o", "APT::Sandbox::User=root", debian], { cwd: folder });
  run("dpkg-deb", ["--extract", ...readdirSync(folder), "."], { cwd: folder });
  copyFileSync(join(folder, file), join("/usr/local/bin", basename(file)));
}

const APT_INSTALL = "apt-get install -y --no-install-recommends";
