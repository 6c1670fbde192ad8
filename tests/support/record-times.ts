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
  /** When it was started, in ticks: a later process may have the same id. */
  readonly started: string;
  readonly seconds: number;
}

const TICKS_PER_SECOND = 100; // of all Linux systems
const INTERVAL_MS = 200;

function usageOf(pid: string): Usage | undefined {
  let stat: string;
  try {
    stat = readFileSync(join("/proc", pid, "stat"), "utf8");
  } catch {
    return undefined; // it has ended
  }
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { parent: Number(fields[1]), started: fields[19] ?? "", seconds: ticks / TICKS_PER_SECOND };
}

/** Returns the processor time of this process and of its descendants, by their ids and starts. */
function readUsages(): Map<string, number> {
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
  const own = [...usages].filter(([pid]) => isOwn(pid));
  return new Map(own.map(([pid, { started, seconds }]) => [`${pid} ${started}`, seconds]));
}

// The threads of one process cannot be told apart.
if (isMainThread) {
  const before = readUsages();
  const latest = new Map(before);
  const update = () => {
    for (const [key, seconds] of readUsages()) latest.set(key, seconds);
  };
  const interval = setInterval(update, INTERVAL_MS).unref();
  afterAll(() => {
    clearInterval(interval);
    update();
    const seconds = [...latest].reduce((sum, [key, total]) => sum + total - (before.get(key) ?? 0), 0);
    const line = { file: expect.getState().testPath, seconds };
    appendFileSync(String(process.env.TSWEB_TEST_TIMES), `${JSON.stringify(line)}\n`);
  });
}
