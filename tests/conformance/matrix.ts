/**
 * The wire suite and the suite of `tsweb/auth` on other runtimes, and the wire suite in Nitro, without a test runner.
 * `npm run matrix` prints the results.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "#test/free-port";
import { buildNitro, NITRO_DIR } from "#test/host-packages";
import { type RunningServer, startProgram } from "#test/run-tsweb";
import { installedProgram, RUNTIMES, type Runtime, versionOf } from "#test/runtimes";
import { runUnitTests } from "#test/unit-tests";
import { wireAppOptions } from "#test/wire-app";
import { checkToolkit } from "./auth-toolkit.ts";
import { COMMON_ENV, socketTarget, type Target, VARIANT_ENV, type Variant, WIRE_CASES } from "./wire/index.ts";

export { buildWireProject } from "#test/wire-app";

/** The result of one suite on one runtime. */
export interface SuiteResult {
  readonly runtime: string;
  /** What was tested: `dist/server.mjs`, its stop, `app.fetch`, `tsweb/auth`, or the unit tests of `src/adapters`. */
  readonly subject: string;
  readonly passed: number;
  readonly failures: readonly { readonly title: string; readonly message: string }[];
}

/** A runtime or host that `npm run matrix` tests. */
export interface MatrixTarget {
  readonly name: string;
  /** @param dir the folder of the built application */
  test(dir: string): Promise<SuiteResult[]>;
}

/** All targets: the runtimes, and Nitro. */
export const TARGETS: readonly MatrixTarget[] = [
  ...RUNTIMES.map((runtime) => ({ name: runtime.name, test: (dir: string) => testRuntime(runtime, dir) })),
  { name: "Nitro 3", test: testNitro },
];

type Counts = Pick<SuiteResult, "passed" | "failures">;

/**
 * Runs all suites on a runtime: the wire suite against the built server, and against `app.fetch` in the runtime's
 * own server if it has one; the suite of `tsweb/auth`; and on Node the unit tests of its adapter.
 *
 * @param dir the folder of the built application
 */
async function testRuntime(runtime: Runtime, dir: string): Promise<SuiteResult[]> {
  const program = await installedProgram(runtime);
  const name = `${runtime.name.split(" ")[0]} ${await versionOf(program)}`;
  const builtServer = {
    runtime: name,
    subject: "dist/server.mjs",
    ...(await runWireCases(serverStarter(program, runtime, dir, "dist/server.mjs"), true)),
  };
  const stop = { runtime: name, subject: "SIGTERM under load", ...(await stopUnderLoad(program, runtime, dir)) };
  const auth = { runtime: name, subject: "tsweb/auth", ...(await runToolkit(program, runtime)) };
  if (runtime.ownServer === null) {
    const unit = { runtime: name, subject: "src/adapters", ...(await runUnitTests(program, ["src/adapters"])) };
    return [builtServer, stop, auth, unit];
  }
  const file = `own-server-${runtime.program}.mjs`;
  writeFileSync(join(dir, file), `import app from "./dist/app.mjs";\n${runtime.ownServer}`);
  const ownServer = {
    runtime: name,
    subject: "app.fetch",
    ...(await runWireCases(serverStarter(program, runtime, dir, file), false)),
  };
  return [builtServer, stop, ownServer, auth];
}

/** Stops the built server by SIGTERM while clients send requests: it has to exit with 0. */
async function stopUnderLoad(program: string, runtime: Runtime, dir: string): Promise<Counts> {
  const server = await serverStarter(program, runtime, dir, "dist/server.mjs")("plain");
  let isRunning = true;
  const load = Array.from({ length: 20 }, async () => {
    while (isRunning)
      await fetch(server.address).then(
        (response) => response.text(),
        () => undefined,
      );
  });
  try {
    await pause(500);
    server.signal("SIGTERM");
    const code = await withTimeout(20_000, server.exited);
    if (code !== 0) throw new Error(`The server exited with ${code}: ${server.output().slice(-2_000)}`);
    return { passed: 1, failures: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { passed: 0, failures: [{ title: "exits with 0 after SIGTERM under load", message }] };
  } finally {
    isRunning = false;
    server.signal("SIGKILL");
    await Promise.all([...load, server.exited]);
  }
}

/** Runs the wire suite against a server of Nitro on this Node, with the application below a prefix (docs/hosts.md). */
async function testNitro(dir: string): Promise<SuiteResult[]> {
  const base = "/shop";
  const version = await buildNitro();
  const startServer = async (variant: Variant) => {
    const env = {
      WEB_ENV: COMMON_ENV.WEB_ENV,
      WIRE_APP: join(dir, "dist/app.mjs"),
      WIRE_OPTIONS: JSON.stringify(wireAppOptions(variant, base)),
      PORT: String(await freePort()), // Nitro reads 0 as its default port
    };
    return startProgram(process.execPath, [".output/server/index.mjs"], { dir: NITRO_DIR, env });
  };
  return [{ runtime: `Nitro ${version}`, subject: "app.fetch", ...(await runWireCases(startServer, false, base)) }];
}

async function runToolkit(program: string, { args }: Runtime): Promise<Counts> {
  const results = Object.entries(await checkToolkit(program, args));
  const failures = results.flatMap(([title, message]) => (message === null ? [] : [{ title, message }]));
  return { passed: results.length - failures.length, failures };
}

type StartServer = (variant: Variant) => Promise<RunningServer>;

function serverStarter(program: string, { args }: Runtime, dir: string, file: string): StartServer {
  return (variant) => startProgram(program, [...args, file], { dir, env: { ...COMMON_ENV, ...VARIANT_ENV[variant] } });
}

/**
 * Runs the wire suite.
 *
 * @param appControlsConnections whether the application, not the runtime, closes connections and frames responses
 * @param base the base of the application
 */
async function runWireCases(startServer: StartServer, appControlsConnections: boolean, base = ""): Promise<Counts> {
  const start = async (variant: Variant) => createTarget(await startServer(variant), base, appControlsConnections);
  const servers = new Map<Variant, RunningTarget>();
  const failures: { title: string; message: string }[] = [];
  let passed = 0;
  for (const [subject, cases] of Object.entries(WIRE_CASES)) {
    for (const { title, variant, run } of cases) {
      try {
        const server = servers.get(variant) ?? (await start(variant));
        servers.set(variant, server);
        await withTimeout(20_000, run(server.target));
        passed++;
      } catch (error) {
        failures.push({
          title: `${subject}: ${title}`,
          message: error instanceof Error ? error.message : String(error),
        });
      }
    }
  }
  for (const { close } of servers.values()) await close();
  return { passed, failures };
}

/** A target, and the server behind it. */
interface RunningTarget {
  readonly target: Target;
  close(): Promise<unknown>;
}

function createTarget(server: RunningServer, base: string, appControlsConnections: boolean): RunningTarget {
  const target = socketTarget(server.address, base, appControlsConnections);
  return {
    target,
    close() {
      target.close();
      server.signal("SIGKILL"); // This suite does not test how a server stops.
      return server.exited;
    },
  };
}

/** Rejects after a time limit, so that one missing response does not block all later cases. */
async function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No response within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
