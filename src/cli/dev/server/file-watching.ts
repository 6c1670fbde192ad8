import type { EventEmitter } from "node:events";
import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type EnvironmentModuleNode, type FSWatcher, normalizePath, type Plugin, type ViteDevServer } from "vite";
import type { EnvFiles } from "../../project/index.ts";
import { type Restarts, restartFiles } from "./restart.ts";

/** How often files are checked for changes that the watcher missed. */
const CHECK_MS = 500;

/** By how much the clock of the file system may be behind, in milliseconds: Linux updates it with each tick of the kernel. */
const CLOCK_TOLERANCE_MS = 10;

/** The options of {@link completeEdits}. */
export interface CompleteEditsOptions {
  /** The application's folder. */
  readonly root: string;
  /** The files of variables, which have been read. */
  readonly envFiles: EnvFiles;
  readonly restarts: Pick<Restarts, "startedAt">;
}

/** Databases and their journals. Tailwind depends on all files of the project, and would reload the pages at each write. */
const DATABASES = "**/*.{db,db3,sqlite,sqlite3}{,-wal,-shm,-journal}";

/**
 * Notifies Vite of every edit, once the file is completely written. Vite ignores a second change within 50 ms, so it
 * would keep a half-written file. Databases are not watched.
 */
export function completeEdits(options: CompleteEditsOptions): Plugin {
  const { root, envFiles } = options;
  const files = restartFiles({ root: normalizePath(root) }, envFiles);
  const restartVersions = new Map(files.map((file) => [file, fileVersion(file)]));
  return {
    name: "tsweb:complete-edits",
    config: ({ server }) => {
      if (server?.watch === null) return undefined;
      const awaitWriteFinish = server?.watch?.awaitWriteFinish ?? { stabilityThreshold: 8, pollInterval: 4 };
      return { server: { watch: { awaitWriteFinish, ignored: [DATABASES] } } }; // in addition to those of the project
    },
    configureServer(server) {
      const { watcher } = server;
      holdBackEmptyFiles(watcher);
      const check = missedEditsCheck(server, { ...options, restartVersions });
      // A restart closes the watcher of the previous server.
      const checking = setInterval(() => (isClosed(watcher) ? clearInterval(checking) : check()), CHECK_MS).unref();
    },
  };
}

/**
 * Returns a function that compares the files of modules, and those for which Vite restarts, with what Vite was notified of
 * last, and notifies it of each difference. The watcher can lose a file permanently: one that was deleted while it waited
 * for the end of a write, all files of a folder that was deleted and created again at once, and a file whose time was set
 * back. A file that the watcher no longer has is added to it again, and compared at the next check.
 *
 * While the watcher reads the folders, it does not report an edit of a file that it has not yet read itself, and it can miss
 * one shortly after. Vite may have loaded the module before the edit, so it is notified of each file that has changed since
 * the server was started, unless the watcher has reported it.
 *
 * A file for which Vite restarts may change while it restarts: after Vite has read it, and before another watcher replaces
 * the one that has not yet reported the edit.
 *
 * @param restartVersions the versions of files for which Vite restarts of which any server was notified
 */
function missedEditsCheck(
  { watcher, environments, config }: ViteDevServer,
  { envFiles, restarts, restartVersions }: CompleteEditsOptions & { restartVersions: Map<string, string> },
): () => void {
  const restarting = config.server.watch === null ? [] : restartFiles(config, envFiles);
  /** The versions of all other files that Vite was notified of. */
  const moduleVersions = new Map<string, string>();
  /** The versions at the last check. */
  const checked = new Map<string, string>();
  for (const file of restarting) {
    if (restartVersions.has(file)) continue;
    const version = fileVersion(file); // of a file that a new config imports
    restartVersions.set(file, changeTime(version) >= restarts.startedAt ? UNKNOWN : version);
  }
  const versionsOf = (file: string) => (restartVersions.has(file) ? restartVersions : moduleVersions);
  const startedAt = Date.now();
  /** Returns the version of which Vite knows when the file is checked for the first time. */
  const firstVersion = (version: string) => (changeTime(version) >= startedAt - CLOCK_TOLERANCE_MS ? UNKNOWN : version);
  const graphs = () => Object.values(environments).map(({ moduleGraph }) => moduleGraph);
  const notify = (event: "add" | "change" | "unlink", file: string) => {
    watcher.emit(event, file);
    watcher.emit("all", event, file);
  };
  watcher.on("all", (_event, path) => {
    const file = normalizePath(path);
    versionsOf(file).set(file, fileVersion(file));
  });
  watcher.on("unlinkDir", (file) => {
    // The watcher reports a file as a folder if it was deleted while the watcher waited for the end of a write.
    if (graphs().some(({ fileToModulesMap }) => fileToModulesMap.has(normalizePath(file)))) notify("unlink", file);
  });
  return () => {
    const moduleFiles = graphs().flatMap(({ fileToModulesMap }) => [...fileToModulesMap.keys()]);
    for (const file of new Set([...moduleFiles, ...restarting])) {
      if (file.includes("\0") || file.includes("/node_modules/")) continue;
      const version = fileVersion(file);
      const isStable = checked.get(file) === version;
      checked.set(file, version);
      const notified = versionsOf(file);
      const before = notified.get(file) ?? firstVersion(version);
      notified.set(file, before);
      if (!isStable || version === before) continue;
      if (!restarting.includes(file) && !isWatched(file, watcher)) {
        if (version !== DELETED) watcher.add(file); // does nothing if the Vite config ignores the file
        continue;
      }
      notify(version === DELETED ? "unlink" : before === DELETED ? "add" : "change", file);
    }
  };
}

/** Returns whether a watcher was closed. Chokidar's types omit the property. */
function isClosed(watcher: FSWatcher): boolean {
  return "closed" in watcher && watcher.closed === true;
}

/** Returns false for files that the project's Vite config ignores. */
function isWatched(file: string, watcher: FSWatcher): boolean {
  return watcher.getWatched()[resolve(dirname(file))]?.includes(basename(file)) ?? false;
}

const DELETED = "";

/** The version of a file that may have been edited after its module was loaded. */
const UNKNOWN = "unknown";

/** Returns a text that differs after every edit of a file. */
function fileVersion(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file);
    return [ino, size, mtimeMs, ctimeMs].join();
  } catch {
    return DELETED; // or unreadable: it cannot be loaded either
  }
}

/** Returns the time of the last change in a version of {@link fileVersion}, in milliseconds; 0 for a deleted file. */
function changeTime(version: string): number {
  return Number(version.split(",").at(-1));
}

/** Scripts and style sheets. A new one may be what an import resolves to, and a style sheet may import another by itself. */
const SOURCE_FILE = /\.(?:[cm]?[jt]sx?|css|less|s[ac]ss|styl|stylus|p(?:ost)?css|sss)$/;

/** Files of the project that affect how Vite resolves and compiles modules. */
const PROJECT_FILE = /\/(?:package|tsconfig(?:\.[^/]+)?)\.json$/;

/**
 * Emits `all` for each edit that may change what the application responds: of a source file, of another file that is
 * imported or whose import has failed, of the Vite config and of `.env`. Vite restarts after an edit of the last two,
 * with another watcher. Files that the application writes, such as a log, are no edits.
 *
 * @param edits receives the events
 */
export function reportEdits(edits: EventEmitter, envFiles: EnvFiles): Plugin {
  /** The names of files whose import has failed. */
  const missing = new Set<string>();
  /** The versions of files of which an edit was reported. The watcher may report one edit twice. */
  const reported = new Map<string, string>();
  return {
    name: "tsweb:report-edits",
    enforce: "post",
    resolveId(source) {
      // Called when no other plugin has resolved it.
      missing.add(basename(source.replace(/[?#].*/s, "")));
      return undefined;
    },
    configureServer({ watcher, environments, config }) {
      const restarting = restartFiles(config, envFiles);
      watcher.on("all", (event, path) => {
        if (event === "addDir" || event === "unlinkDir") return;
        const file = normalizePath(path);
        const isEdit =
          SOURCE_FILE.test(file) ||
          PROJECT_FILE.test(file) ||
          restarting.includes(file) ||
          missing.has(basename(file)) ||
          missing.has(basename(file, ".json")) || // an import may omit the extension
          Object.values(environments).some(({ moduleGraph }) => isModule(moduleGraph.getModulesByFile(file)));
        const version = fileVersion(file);
        if (!isEdit || reported.get(file) === version) return;
        reported.set(file, version);
        edits.emit("all");
      });
      edits.emit("all");
    },
  };
}

/** Without an id, it is no module: the style sheet of Tailwind depends on all files. */
function isModule(nodes: Iterable<EnvironmentModuleNode> = []): boolean {
  return [...nodes].some(({ id }) => id !== null);
}

/** How long a file may be empty between the two steps of a write, in milliseconds. */
const EMPTY_MS = 25;

/**
 * Delays the events of a watcher for files that are empty. Most programs truncate a file and write it then. On a busy
 * machine they may be interrupted in between for longer than the watcher waits for the end of a write.
 *
 * An event is never dropped, and `all` is delayed if the event before it was: a listener of one must not miss what a
 * listener of the other has seen.
 */
export function holdBackEmptyFiles(watcher: EventEmitter): void {
  const emit = watcher.emit.bind(watcher);
  let isHeld = false;
  watcher.emit = (name, ...input) => {
    // chokidar emits `all` immediately after each event.
    if (name !== "all") isHeld = (name === "add" || name === "change") && isEmpty(input[0]);
    if (!isHeld) return emit(name, ...input);
    setTimeout(emit, EMPTY_MS, name, ...input).unref();
    return true;
  };
}

function isEmpty(file: unknown): boolean {
  return typeof file === "string" && statSync(file, { throwIfNoEntry: false })?.size === 0;
}
