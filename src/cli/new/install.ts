import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { BuildError } from "../project/index.ts";
import type { PackageManager } from "./package-manager.ts";

/** npm and its alternatives are batch files on Windows, which only a shell starts. All arguments are constants. */
const shell = process.platform === "win32";

/**
 * Installs the packages of a project, and shows the output of the package manager.
 *
 * @param dir the folder of the project
 * @returns `null`, or why the installation failed
 */
export function installPackages({ name }: PackageManager, dir: string): Promise<string | null> {
  // With NODE_ENV=production, npm would omit the development dependencies. On CI servers, Yarn would refuse to write the
  // new yarn.lock.
  const { NODE_ENV: _mode, ...inherited } = process.env;
  const env = { ...inherited, YARN_ENABLE_IMMUTABLE_INSTALLS: "false" };
  const child = spawn(name, ["install"], { cwd: dir, env, stdio: "inherit", shell });
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(`${name} could not be started: ${error.message}.`));
    child.on("close", (status, signal) => {
      const reason = signal === null ? `exit status ${status}` : `signal ${signal}`;
      resolve(status === 0 ? null : `${name} install failed (${reason}). Its messages are above.`);
    });
  });
}

/**
 * Packs the package in a folder, as `npm publish` would.
 *
 * @param dir the folder of the package, which must be built
 * @returns the path of the packed file, in the same folder
 * @throws BuildError with npm's messages
 */
export function packFolder(dir: string): string {
  const options = { cwd: dir, encoding: "utf8", shell } as const;
  const { status, stdout, stderr, error } = spawnSync("npm", ["pack", "--json", "--ignore-scripts"], options);
  if (status === 0) {
    const [{ filename }] = JSON.parse(stdout);
    return join(dir, filename);
  }
  throw new BuildError(
    `tsweb in ${dir} could not be packed for the new project. Nothing was written. ` +
      `npm pack failed:\n${error?.message ?? stderr.trim()}`,
  );
}
