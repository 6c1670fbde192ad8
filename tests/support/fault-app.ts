/**
 * The application of the fault tests (tests/fault/fixtures/faults): built, and started in a process that
 * crashes at an unhandled rejection.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { repository } from "./copy-example.ts";
import { type Environment, type RunningServer, startNode } from "./run-tsweb.ts";
import { buildOnce } from "./shared-builds.ts";
import { TestProject } from "./test-project.ts";

/** The built application, in a temporary folder. */
export interface FaultApp {
  /** Starts a server process. */
  start(env?: Environment): Promise<RunningServer>;
  /** Deletes the folder. */
  remove(): void;
}

/** Builds the application. The caller has to remove it. */
export async function buildFaultApp(): Promise<FaultApp> {
  const site = TestProject.copy(join(repository, "tests/fault/fixtures/faults"));
  await buildOnce(site.dir, "faults");
  const secret = randomBytes(32).toString("hex"); // of all processes, which may share a bus
  return {
    start: (env = {}) =>
      startNode(site.dir, ["--expose-gc", "--unhandled-rejections=strict", "dist/server.mjs"], {
        WEB_AUTH_SECRET: secret,
        ...env,
      }),
    remove: () => site.remove(),
  };
}
