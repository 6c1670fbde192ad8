import type { EventEmitter } from "node:events";
import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type FSWatcher, normalizePath, type Plugin, type ViteDevServer } from "vite";

/** How often module files are checked for changes that the watcher missed. */
const CHECK_MS = 500;

/**
 * Notifies Vite of every edit, once the file is completely written. Vite ignores a second change within 50 ms, so it
 * would keep a half-written file.
 */
export function completeEdits(): Plugin {
  let checking: NodeJS.Timeout | undefined;
  return {
    name: "tsweb:complete-edits",
    config: ({ server }) => {
      if (server?.watch === null || server?.watch?.awaitWriteFinish !== undefined) return undefined;
      return { server: { watch: { awaitWriteFinish: { stabilityThreshold: 20, pollInterval: 5 } } } };
    },
    configureServer(server) {
      clearInterval(checking);
      checking = setInterval(missedEditsCheck(server), CHECK_MS).unref();
    },
  };
}

/**
 * Returns a function that compares the files of modules with what Vite was notified of last, and notifies it of each
 * difference. The watcher can lose a file permanently: one that was deleted while it waited for the end of a write, all
 * files of a folder that was deleted and created again at once, and a file whose time was set back.
 */
function missedEditsCheck({ watcher, environments }: ViteDevServer): () => void {
  /** The versions that Vite was notified of. */
  const notified = new Map<string, string>();
  /** The versions at the last check. */
  const checked = new Map<string, string>();
  const graphs = () => Object.values(environments).map(({ moduleGraph }) => moduleGraph);
  const notify = (event: "add" | "change" | "unlink", file: string) => {
    watcher.emit(event, file);
    watcher.emit("all", event, file);
  };
  watcher.on("all", (_event, file) => notified.set(normalizePath(file), fileVersion(file)));
  watcher.on("unlinkDir", (file) => {
    // The watcher reports a file as a folder if it was deleted while the watcher waited for the end of a write.
    if (graphs().some(({ fileToModulesMap }) => fileToModulesMap.has(normalizePath(file)))) notify("unlink", file);
  });
  return () => {
    for (const file of new Set(graphs().flatMap(({ fileToModulesMap }) => [...fileToModulesMap.keys()]))) {
      if (file.includes("\0") || file.includes("/node_modules/")) continue;
      const version = fileVersion(file);
      const isStable = checked.get(file) === version;
      checked.set(file, version);
      const before = notified.get(file) ?? version;
      notified.set(file, before);
      if (!isStable || version === before || !isWatched(file, watcher)) continue;
      notify(version === DELETED ? "unlink" : before === DELETED ? "add" : "change", file);
    }
  };
}

/** Returns false for files that the project's Vite config ignores. */
function isWatched(file: string, watcher: FSWatcher): boolean {
  return watcher.getWatched()[resolve(dirname(file))]?.includes(basename(file)) ?? false;
}

const DELETED = "";

/** Returns a text that differs after every edit of a file. */
function fileVersion(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file);
    return [ino, size, mtimeMs, ctimeMs].join();
  } catch {
    return DELETED; // or unreadable: it cannot be loaded either
  }
}

/**
 * Emits `all` for each edit. An edit of the project's Vite config or its `.env` counts too: Vite then restarts, with
 * another watcher.
 *
 * @param edits receives the events
 */
export function reportEdits(edits: EventEmitter): Plugin {
  return {
    name: "tsweb:report-edits",
    configureServer({ watcher }) {
      watcher.on("all", () => edits.emit("all"));
      edits.emit("all");
    },
  };
}
