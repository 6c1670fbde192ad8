// Builds the measured pages and functions of other frameworks, each with its own tool, if their sources have changed.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { installPackages, root } from "../../scripts/setup.mjs";

const bench = fileURLToPath(new URL("../", import.meta.url));
const frameworks = join(bench, "frameworks");

const viteOf = (folder) => [join(folder, "node_modules", "vite", "bin", "vite.js"), "build", "--logLevel", "warn"];
const astro = [join(frameworks, "node_modules", "astro", "bin", "astro.mjs"), "build", "--silent"];
const next = [join(frameworks, "node_modules", "next", "dist", "bin", "next"), "build"];

/**
 * Installs the frameworks of the measured pages, and builds the pages.
 *
 * @param node the path of the Node of the builds: Astro and SvelteKit require 22.12
 */
export function buildFrameworks(node) {
  installPackages(frameworks);
  const inputs = [join(frameworks, "package.json"), join(bench, "app", "src", "rows.ts")];
  const options = { command: viteOf(frameworks), inputs, node };
  buildIfChanged(join(frameworks, "react"), "dist/server.js", options);
  buildIfChanged(join(frameworks, "solid"), "dist/server.js", options);
  buildIfChanged(join(frameworks, "sveltekit"), "build/handler.js", options);
  buildIfChanged(join(frameworks, "astro"), "dist/server/entry.mjs", { ...options, command: astro });
}

/**
 * Installs the frameworks of the measured navigation, and builds their sites.
 *
 * @param node the path of the Node of the builds
 */
export function buildNavigation(node) {
  installPackages(frameworks);
  const inputs = [join(frameworks, "package.json"), join(bench, "app", "src", "rows.ts")];
  buildIfChanged(join(frameworks, "sveltekit"), "build/handler.js", { command: viteOf(frameworks), inputs, node });
  buildIfChanged(join(frameworks, "next"), ".next/BUILD_ID", { command: next, inputs, node });
}

/** Builds the functions of Telefunc: its plugin for Vite registers them, and generates the checks of their arguments. */
export function buildTelefunc() {
  const inputs = [join(bench, "package-lock.json"), join(bench, "peers", "calls", "protected", "hono-host.mjs")];
  const folder = join(bench, "peers", "calls", "telefunc");
  buildIfChanged(folder, "dist/server.js", { command: viteOf(root), inputs, node: process.execPath });
}

/** Builds a folder, unless the output is newer than its files and the inputs. */
function buildIfChanged(cwd, output, { command, inputs, node }) {
  const file = join(cwd, output);
  const isNewer = (input) => statSync(input).mtimeMs < statSync(file).mtimeMs;
  if (existsSync(file) && [...inputs, ...sourcesOf(cwd)].every(isNewer)) return;
  const env = { ...process.env, NODE_ENV: "production", ASTRO_TELEMETRY_DISABLED: "1", NEXT_TELEMETRY_DISABLED: "1" };
  const { status, stdout, stderr } = spawnSync(node, command, { cwd, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`The build of ${relative(root, cwd)} failed:\n${stdout}\n${stderr}`);
}

/** Returns the files of a folder, but not what tools write: dist, build, packages, and folders with a point. */
function sourcesOf(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isFile()) return [join(dir, entry.name)];
    return /^(\..*|dist|build|node_modules)$/.test(entry.name) ? [] : sourcesOf(join(dir, entry.name));
  });
}
