import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ConfigProblem, Environment } from "../config/index.ts";
import type { LoadReport } from "./build/index.ts";

/** How long the built application may take to load, in milliseconds. */
const LOADING_MS = 30_000;

/** The result of {@link checkStart}. */
export interface StartCheck {
  readonly problems: readonly ConfigProblem[];
  /** What could not be checked, in full sentences. */
  readonly notes: readonly string[];
  /** Whether the built application was loaded with the environment, and accepts it. */
  readonly isLoaded: boolean;
}

/**
 * Returns what would prevent a built application from starting with an environment, apart from its variables: what its modules
 * throw when they are loaded, its options, packages that it lacks, and an address on which it cannot listen.
 *
 * The application in `dist` is loaded in a process of its own. Nothing is served, and `on_start` does not run.
 *
 * @param env a valid environment
 * @param folder the folder in which the server is started
 */
export async function checkStart(env: Environment, folder: string): Promise<StartCheck> {
  const address = await addressProblems(env);
  const app = join(folder, "dist/app.mjs");
  if (!existsSync(app)) {
    return { problems: [...address, ...packageProblems(env, folder)], notes: [], isLoaded: false };
  }
  const report = await loadBuilt(app, { env, folder });
  if (report === "timeout") return { problems: address, notes: [NOT_LOADED_IN_TIME], isLoaded: false };
  const { error, problems = [] } = report;
  const failure =
    error === undefined || report.problems
      ? []
      : [{ variable: "dist/app.mjs", problem: `cannot be loaded: ${error}`, fix: FIX }];
  const all = [...address, ...problems, ...failure];
  return { problems: all, notes: [], isLoaded: problems.length + failure.length === 0 };
}

const NOT_LOADED_IN_TIME = `dist/app.mjs was not loaded within ${LOADING_MS / 1000} seconds, so that it was not checked whether it starts.`;

const FIX = "The server would not start. Correct this, and build the application again: npx tsweb build";

/** Loads a built application in another process, which reports and ends. */
async function loadBuilt(
  app: string,
  { env, folder }: { env: Environment; folder: string },
): Promise<LoadReport | "timeout"> {
  const child = fork(fileURLToPath(new URL("./load-app-child.js", import.meta.url)), [app], {
    cwd: folder,
    env: { ...env, WEB_ENV: "production" },
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve) => {
      timer = setTimeout(() => resolve("timeout"), LOADING_MS);
      child.once("message", (report: LoadReport) => resolve(report));
      child.once("error", (error) => resolve({ error: error.message }));
      child.once("exit", (code) => resolve({ error: `its modules end the process with status ${code}.` }));
    });
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
  }
}

/** Without a build: metrics need a package that is loaded at the start. */
function packageProblems(env: Environment, folder: string): ConfigProblem[] {
  const variable = ["WEB_METRICS_PORT", "WEB_METRICS_TOKEN"].find((name) => env[name]);
  if (variable === undefined) return [];
  try {
    createRequire(join(folder, "package.json")).resolve("prom-client");
    return [];
  } catch {
    const problem = "is set, but the package prom-client is not installed: the server would not start.";
    return [
      { variable, problem, fix: "Install it in the application, then build the application: npm install prom-client" },
    ];
  }
}

/** Returns why the server could not listen. That a port is in use is no problem: the server may be running. */
async function addressProblems(env: Environment): Promise<ConfigProblem[]> {
  const ports = ["PORT", "WEB_METRICS_PORT"].filter((name) => env[name]);
  const host = env.HOST || "127.0.0.1";
  const problems = await Promise.all(
    ports.map(async (variable): Promise<ConfigProblem[]> => {
      const code = await listenError(host, Number(env[variable]));
      if (code === "EACCES") {
        const fix = `Set ${variable} to a port from 1024 to 65535, or allow this user to use it.`;
        return [{ variable, problem: `is ${env[variable]}, a port that this user may not use (EACCES).`, fix }];
      }
      if (code === undefined || code === "EADDRINUSE") return [];
      return [
        { variable: "HOST", problem: `is ${host}, on which this machine cannot listen (${code}).`, fix: HOST_FIX },
      ];
    }),
  );
  return problems.flat();
}

const HOST_FIX =
  "Set it to 0.0.0.0 for all addresses of the machine, or to 127.0.0.1 behind a proxy on the same machine.";

function listenError(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
