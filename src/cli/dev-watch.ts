import type { EventEmitter } from "node:events";
import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type FSWatcher, normalizePath, type Plugin, type ViteDevServer } from "vite";

/**
 * Lets the build tool hear of every edit, once the file rests. It takes no note of a second change within
 * 50 ms, so of a file that it read half written it would keep that half.
 */
export function wholeEdits(): Plugin {
  let looking: NodeJS.Timeout | undefined;
  return {
    name: "tsweb:whole-edits",
    config: ({ server }) => {
      if (server?.watch === null || server?.watch?.awaitWriteFinish !== undefined) return undefined;
      return { server: { watch: { awaitWriteFinish: { stabilityThreshold: 20, pollInterval: 5 } } } };
    },
    configureServer(server) {
      clearInterval(looking);
      looking = setInterval(missedEdits(server), LOOK_MS).unref();
    },
  };
}

/** How often it is looked whether a module's file has changed. */
const LOOK_MS = 500;

/**
 * Makes what looks whether the files of modules are as the build tool was told last, and tells it where
 * one is not. Its watcher can lose a file for good: one that was deleted while it waited for the end of
 * a write, all of a folder that was deleted and made again at once, one whose time was set back.
 */
function missedEdits({ watcher, environments }: ViteDevServer): () => void {
  const told = new Map<string, string>();
  const seen = new Map<string, string>();
  const graphs = () => Object.values(environments).map(({ moduleGraph }) => moduleGraph);
  const tell = (event: "add" | "change" | "unlink", file: string) => {
    watcher.emit(event, file);
    watcher.emit("all", event, file);
  };
  watcher.on("all", (_event, file) => told.set(normalizePath(file), stampOf(file)));
  watcher.on("unlinkDir", (file) => {
    // The watcher takes a file for a folder once it was deleted while it waited for the end of a write.
    if (graphs().some(({ fileToModulesMap }) => fileToModulesMap.has(normalizePath(file)))) tell("unlink", file);
  });
  return () => {
    for (const file of new Set(graphs().flatMap(({ fileToModulesMap }) => [...fileToModulesMap.keys()]))) {
      if (file.includes("\0") || file.includes("/node_modules/")) continue;
      const stamp = stampOf(file);
      const rests = seen.get(file) === stamp;
      seen.set(file, stamp);
      const before = told.get(file) ?? stamp;
      told.set(file, before);
      if (!rests || stamp === before || !isWatched(file, watcher)) continue;
      tell(stamp === GONE ? "unlink" : before === GONE ? "add" : "change", file);
    }
  };
}

/** Not what the project's Vite config has it ignore. */
function isWatched(file: string, watcher: FSWatcher): boolean {
  return watcher.getWatched()[resolve(dirname(file))]?.includes(basename(file)) ?? false;
}

const GONE = "";

/** Tells a file as it is from what it is after any edit. */
function stampOf(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file);
    return [ino, size, mtimeMs, ctimeMs].join();
  } catch {
    return GONE; // or not to be read, which is the same to who would load it
  }
}

/**
 * Hands on what is heard of files. When the project's Vite config or its `.env` is edited, the build
 * tool starts itself anew, with another watcher: that counts as an edit too.
 */
export function hearEdits(edits: EventEmitter): Plugin {
  return {
    name: "tsweb:hear-edits",
    configureServer({ watcher }) {
      watcher.on("all", () => edits.emit("all"));
      edits.emit("all");
    },
  };
}
