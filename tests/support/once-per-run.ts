/**
 * What several test files need and none of them changes, such as builds and the packed package: it is created once in a
 * run of the tests.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The variable that names the folder of this run. {@link setup} sets it for the processes of the test files. */
const FOLDER_VARIABLE = "TSWEB_TEST_BUILDS";

/**
 * Creates the folder of one run of the tests, which several projects of Vitest share. Returns a function that removes it.
 */
export default function setup(): (() => void) | undefined {
  if (process.env[FOLDER_VARIABLE] !== undefined) return undefined;
  const folder = createFolder();
  return () => rmSync(folder, { recursive: true });
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tsweb-builds-"));
  process.env[FOLDER_VARIABLE] = folder;
  return folder;
}

/** Returns the folder of this run. A script that uses the helpers of the tests without Vitest has one of its own. */
function folderOfRun(): string {
  const existing = process.env[FOLDER_VARIABLE];
  if (existing !== undefined) return existing;
  const folder = createFolder();
  process.once("exit", () => rmSync(folder, { recursive: true }));
  return folder;
}

/**
 * Returns a folder that was filled once in this run of the tests. Other test files that call this at the same time wait.
 * The caller does not change the folder.
 *
 * @param name the name of the folder
 * @param fill fills an empty folder, which gets its name afterwards. If it throws, the next caller tries again
 */
export async function oncePerRun(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const shared = join(folderOfRun(), name);
  const lock = `${shared}.lock`;
  while (!existsSync(shared)) {
    if (!tryLock(lock)) {
      await sleep(100); // until another test file has filled the folder, or has failed
      continue;
    }
    try {
      if (existsSync(shared)) break;
      const folder = mkdtempSync(`${shared}-`);
      await fill(folder);
      renameSync(folder, shared);
    } finally {
      rmSync(lock, { recursive: true });
    }
  }
  return shared;
}

/** Returns whether nobody else has reserved a name in this run of the tests, such as that of a port. It is reserved for the rest of the run. */
export function reserve(name: string): boolean {
  return tryLock(join(folderOfRun(), name));
}

/** Returns whether this call has created a folder, which only one process can do. */
function tryLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}
