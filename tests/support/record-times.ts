/**
 * Records the processor time of a test file: that of its process and of all processes that it has started. `npm run times` adds it
 * to the setup files of all projects.
 */
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { afterAll, expect } from "vitest";

/** A process at one moment. */
interface Usage {
  readonly parent: number;
  /** That of the process, and of all its children that have ended. */
  readonly seconds: number;
}

const TICKS_PER_SECOND = 100; // of all Linux systems

function usageOf(pid: string): Usage | undefined {
  let stat: string;
  try {
    stat = readFileSync(join("/proc", pid, "stat"), "utf8");
  } catch {
    return undefined; // it has ended
  }
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0); // utime, stime, cutime, cstime
  return { parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
}

/** Returns the processor time of this process and of its descendants, also of those that have ended. */
function readSeconds(): number {
  const usages = new Map<number, Usage>();
  for (const name of readdirSync("/proc")) {
    const usage = /^\d+$/.test(name) ? usageOf(name) : undefined;
    if (usage) usages.set(Number(name), usage);
  }
  const isOwn = (pid: number): boolean => {
    if (pid === process.pid) return true;
    const parent = usages.get(pid)?.parent;
    return parent !== undefined && isOwn(parent);
  };
  return [...usages].filter(([pid]) => isOwn(pid)).reduce((sum, [, { seconds }]) => sum + seconds, 0);
}

// The threads of one process cannot be told apart.
if (isMainThread) {
  const before = readSeconds();
  afterAll(() => {
    const line = { file: expect.getState().testPath, seconds: readSeconds() - before };
    appendFileSync(String(process.env.TSWEB_TEST_TIMES), `${JSON.stringify(line)}\n`);
  });
}
