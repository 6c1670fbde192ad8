// The measured applications of tsweb, bench/app and bench/site: built and served like any other.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startServer } from "./processes.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));
/** The folder of the application that most benchmarks measure. `--guard` also builds it with other revisions of tsweb. */
export const folder = fileURLToPath(new URL("../app", import.meta.url));

/** The folder of the application of `navigation` and `queries`. */
export const siteFolder = fileURLToPath(new URL("../site", import.meta.url));

/**
 * Builds an application with the command that users run.
 *
 * @param repository the folder of the revision of tsweb that builds it
 */
export function buildApp(dir = folder, repository = root) {
  const command = [join(repository, "bin", "tsweb.js"), "build", dir];
  const { status, stderr } = spawnSync(process.execPath, command, { encoding: "utf8" });
  if (status !== 0) throw new Error(`tsweb build failed:\n${stderr}`);
}

/** The environment of a built application: production, on a free loopback port. */
export const settings = () => ({
  WEB_ENV: "production",
  WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
  HOST: "127.0.0.1",
  PORT: "0",
  WEB_COMPRESS: "0", // the other servers do not compress either
  WEB_DRAIN_SECONDS: "0", // nothing has to be drained when a measurement ends
});

/** Starts the built application of `bench/app`, or of the folder `cwd`. */
export function startApp({ env = {}, nodeArgs = [], ...options } = {}) {
  const secrets = { ...settings(), WEB_CSRF_SECRET: randomBytes(32).toString("hex") };
  return startServer([...nodeArgs, "dist/server.mjs"], { cwd: folder, env: { ...secrets, ...env }, ...options });
}
