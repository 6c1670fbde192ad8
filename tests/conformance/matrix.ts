/**
 * The wire on other runtimes: every row, against the built server and against `app.fetch` below a
 * runtime's own server; and the auth toolkit. `npm run matrix` prints it; it needs no test runner.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Running, startProgram } from "#test/run-tsweb";
import { programOf, type Runtime, versionOf } from "#test/runtimes";
import { tryToolkit } from "./auth-toolkit.ts";
import { COMMON, ROWS, type Site, socketSite, VARIANTS, type Variant } from "./wire/index.ts";

export { RUNTIMES } from "#test/runtimes";
export { buildWireSite } from "#test/wire-app";

/** What came of one runtime and one way to the application. */
export interface Outcome {
  readonly runtime: string;
  readonly way: string;
  readonly passed: number;
  readonly failures: readonly { readonly row: string; readonly message: string }[];
}

/** Runs all rows on a runtime, in each way that it has. */
export async function tryRuntime(runtime: Runtime, dir: string): Promise<Outcome[]> {
  const program = await programOf(runtime);
  const name = `${runtime.name.split(" ")[0]} ${await versionOf(program)}`;
  const built = {
    runtime: name,
    way: "dist/server.mjs",
    ...(await runRows(opener(program, runtime, dir, "dist/server.mjs"), true)),
  };
  const auth = { runtime: name, way: "tsweb/auth", ...(await runToolkit(program, runtime)) };
  if (runtime.ownServer === null) return [built, auth];
  const file = `own-server-${runtime.program}.mjs`;
  writeFileSync(join(dir, file), `import app from "./dist/app.mjs";\n${runtime.ownServer}`);
  const own = { runtime: name, way: "app.fetch", ...(await runRows(opener(program, runtime, dir, file), false)) };
  return [built, own, auth];
}

async function runToolkit(program: string, { args }: Runtime): Promise<Pick<Outcome, "passed" | "failures">> {
  const rows = Object.entries(await tryToolkit(program, args));
  const failures = rows.flatMap(([row, message]) => (message === null ? [] : [{ row, message }]));
  return { passed: rows.length - failures.length, failures };
}

type Open = (variant: Variant) => Promise<Running>;

function opener(program: string, { args }: Runtime, dir: string, file: string): Open {
  return (variant) => startProgram(program, [...args, file], { dir, env: { ...COMMON, ...VARIANTS[variant] } });
}

/** @param tellsClosing whether an application decides when a connection closes, or the runtime's own server does */
async function runRows(open: Open, tellsClosing: boolean): Promise<Pick<Outcome, "passed" | "failures">> {
  const opened = new Map<Variant, { site: Site; close(): Promise<unknown> }>();
  const failures: { row: string; message: string }[] = [];
  let passed = 0;
  for (const [title, rows] of Object.entries(ROWS)) {
    for (const { name, variant, run } of rows) {
      try {
        const { site } = opened.get(variant) ?? (await openSite(open, { variant, opened, tellsClosing }));
        await within(20_000, run(site));
        passed++;
      } catch (error) {
        failures.push({ row: `${title}: ${name}`, message: error instanceof Error ? error.message : String(error) });
      }
    }
  }
  for (const { close } of opened.values()) await close();
  return { passed, failures };
}

interface Opening {
  readonly variant: Variant;
  readonly opened: Map<Variant, { site: Site; close(): Promise<unknown> }>;
  readonly tellsClosing: boolean;
}

async function openSite(open: Open, { variant, opened, tellsClosing }: Opening) {
  const server = await open(variant);
  const site = socketSite(server.address, "", tellsClosing);
  const both = {
    site,
    close() {
      site.close();
      server.signal("SIGKILL"); // how it stops is not what is tried here
      return server.ended;
    },
  };
  opened.set(variant, both);
  return both;
}

/** Gives up on what takes too long: an answer that never comes must not hold up all that follow. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
