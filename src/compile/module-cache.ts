import { existsSync, readFileSync, type Stats, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { normalizePath, type Rolldown } from "vite";
import { type ModuleFacts, type ModuleResolver, readModule } from "./modules/index.ts";
import type { PackageResolver } from "./rules/index.ts";
import { CompileError, isScript, type SourceFile, stripQuery } from "./syntax/index.ts";

interface ReadModule {
  /** The time and the size of the file when it was read. */
  readonly stamp: string;
  /** The generation of the cache in which the file was last seen with this stamp. */
  checkedIn: number;
  readonly source: SourceFile;
  /** The error if the module breaks a rule; `undefined` until it is parsed. */
  facts?: ModuleFacts | CompileError;
}

type Resolution = Promise<Rolldown.ResolvedId | null>;

/** The options of {@link ModuleCache}. */
export interface ModuleCacheOptions {
  /**
   * Whether `filesChanged` is called after each change of a file, so that no file is checked for changes in between.
   * Without it, each read of a module checks its file.
   */
  readonly isNotified: boolean;
}

/** Reads the modules of a project. Each file is read once until it changes, and each text of a module is parsed once. */
export class ModuleCache {
  /** The project's root, absolute, with forward slashes. */
  readonly root: string;
  private readonly isNotified: boolean;
  private readonly byFile = new Map<string, ReadModule>();
  private readonly byText = new Map<string, ModuleFacts>();
  private readonly values = new Map<string, unknown>();
  private readonly resolved = new Map<string, Resolution>();
  /** The number of times that files have changed. */
  private generation = 0;

  constructor(root: string, { isNotified }: ModuleCacheOptions = { isNotified: false }) {
    this.root = root;
    this.isNotified = isNotified;
  }

  /**
   * Reads a module from its text.
   *
   * @throws CompileError when the module breaks a rule of the compile step
   */
  readText(source: SourceFile): ModuleFacts {
    const cached = this.byText.get(source.file);
    if (cached?.source.code === source.code) return cached;
    const facts = readModule(source, this.root);
    this.byText.set(source.file, facts);
    return facts;
  }

  /**
   * Reads a module from its file, and again after the file has changed.
   *
   * @throws CompileError when the module breaks a rule of the compile step
   */
  readFile(file: string): ModuleFacts {
    const facts = this.read(file);
    if (facts instanceof CompileError) throw facts;
    return facts;
  }

  /**
   * Reads a module that another module imports. A module with a compile error counts as missing here: the
   * error is reported when that module itself is compiled.
   */
  readIfValid(id: string | undefined): ModuleFacts | undefined {
    if (id === undefined || !isAbsolute(id)) return undefined;
    const file = stripQuery(id);
    if (!isScript(file)) return undefined;
    const facts = ifExists(() => this.read(file));
    return facts instanceof CompileError ? undefined : facts;
  }

  /** As {@link readIfValid}, but waits for the text of a file that is empty because it is being written. */
  async readWritten(id: string | undefined): Promise<ModuleFacts | undefined> {
    const facts = this.readIfValid(id);
    if (facts?.source.code !== "") return facts;
    const { file } = facts.source;
    const code = await readWritten(file).catch(() => undefined);
    this.byFile.delete(file); // would return the empty text until the next change
    if (code === undefined) return undefined;
    const written = this.parse({ file, code });
    return written instanceof CompileError ? undefined : written;
  }

  /** Returns the text of a module's file, without parsing it; `undefined` if there is no such file. */
  readSource(file: string): string | undefined {
    return isAbsolute(file) ? ifExists(() => this.open(file).source.code) : undefined;
  }

  private read(file: string): ModuleFacts | CompileError {
    const module = this.open(file);
    module.facts ??= this.parse(module.source);
    return module.facts;
  }

  /** Reads a file without parsing it. */
  private open(file: string): ReadModule {
    const cached = this.byFile.get(file);
    if (cached && this.isNotified && cached.checkedIn === this.generation) return cached;
    const { mtimeMs, size } = statSync(file);
    const stamp = `${mtimeMs}:${size}`;
    if (cached?.stamp === stamp) {
      cached.checkedIn = this.generation;
      return cached;
    }
    const source = { file, code: readFileSync(file, "utf8") };
    const module: ReadModule = { stamp, checkedIn: this.generation, source };
    this.byFile.set(file, module);
    return module;
  }

  private parse(source: SourceFile): ModuleFacts | CompileError {
    try {
      return this.readText(source);
    } catch (error) {
      if (error instanceof CompileError) return error;
      throw error;
    }
  }

  /**
   * Returns a value that depends on files of the project. It is computed once, and again after files have changed.
   *
   * @param key the name of the value
   */
  remember<T>(key: string, compute: () => T): T {
    if (!this.isNotified) return compute();
    if (!this.values.has(key)) this.values.set(key, compute());
    return this.values.get(key) as T; // a key always has the same type
  }

  /**
   * Returns what an import resolves to. It is resolved once, and again after files were created or deleted. An import that
   * was not found is always resolved again, because nothing notifies of packages that are installed.
   *
   * @param key the specifier, with everything that its resolution depends on
   */
  resolveOnce(key: string, resolve: () => Resolution): Resolution {
    if (!this.isNotified) return resolve();
    const earlier = this.resolved.get(key);
    if (earlier) return earlier;
    const resolution = resolve();
    this.resolved.set(key, resolution);
    const forget = () => this.resolved.get(key) === resolution && this.resolved.delete(key);
    resolution.then((id) => id === null && forget(), forget);
    return resolution;
  }

  /** Removes a file from the cache. */
  delete(file: string): void {
    this.byFile.delete(file);
    this.byText.delete(file);
  }

  /**
   * Must be called after files of the project have changed.
   *
   * @param edited the file, if only the content of one file has changed
   */
  filesChanged(edited?: string): void {
    this.generation++;
    this.values.clear();
    // Other files, such as tsconfig.json, may change what an import resolves to.
    if (edited === undefined || !isScript(edited)) this.resolved.clear();
  }
}

/** Returns whether an id is the path of a file, and not the name of a virtual module. */
function isAbsolute(id: string): boolean {
  return id.startsWith("/") || /^[a-z]:/i.test(id);
}

/** Returns what `read` returns; `undefined` if its file does not exist. */
function ifExists<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EISDIR");
}

/** What is needed of the context of a plugin's hook. */
interface ResolvingContext extends Pick<Rolldown.PluginContext, "resolve"> {
  readonly environment: { readonly name: string };
}

/** Resolves an import statement as Vite does, each once in a build. */
export function resolveImport(
  context: ResolvingContext,
  modules: ModuleCache,
  { specifier, importer }: { readonly specifier: string; readonly importer: string },
): Promise<Rolldown.ResolvedId | null> {
  const key = `${context.environment.name}\0${importer}\0${specifier}`;
  return modules.resolveOnce(key, () => context.resolve(specifier, importer, { skipSelf: true }));
}

/** A resolver of one of Vite's environments. */
export interface ViteResolver extends ModuleResolver, PackageResolver {
  /** The name of the environment. */
  readonly environment: string;
}

/** Returns a resolver that finds modules as Vite does, by the context of a plugin's hook. */
export function viteResolver(context: ResolvingContext, modules: ModuleCache): ViteResolver {
  const resolve = (specifier: string, importer: string) => resolveImport(context, modules, { specifier, importer });
  return {
    root: modules.root,
    environment: context.environment.name,
    resolve: async (specifier, importer) => {
      const resolved = await resolve(specifier, importer);
      return resolved && !resolved.external ? normalizePath(resolved.id) : undefined;
    },
    isMissing: async (specifier, importer) => (await resolve(specifier, importer)) === null,
    read: (id) => modules.readWritten(id),
  };
}

/** How long a file may be empty between the two steps of a write, in milliseconds: half a second was seen on a busy machine. */
const WRITE_MS = 2_000;

/** How often an empty file is checked, in milliseconds. */
const CHECK_MS = 4;

/**
 * Waits until a file is written that is empty and was changed a moment ago; at most two seconds. Most programs
 * truncate a file and write it then. On a busy machine they may be interrupted in between for longer than a request needs to
 * load the file.
 */
export async function untilWritten(file: string): Promise<void> {
  const endsAt = performance.now() + WRITE_MS;
  while (isBeingWritten(file) && performance.now() < endsAt) await wait(CHECK_MS);
}

/**
 * Returns the text of a file, after waiting as {@link untilWritten}. A file that is written several times in quick succession may
 * be empty again when it is read.
 *
 * @throws the error of `readFile`
 */
export async function readWritten(file: string): Promise<string> {
  const endsAt = performance.now() + WRITE_MS;
  let text = await readFile(file, "utf8");
  while (text === "" && statsIfRecent(file) && performance.now() < endsAt) {
    await wait(CHECK_MS);
    text = await readFile(file, "utf8");
  }
  return text || readFile(file, "utf8"); // this process may have been busy since the text was read
}

function isBeingWritten(file: string): boolean {
  return statsIfRecent(file)?.size === 0;
}

/** Returns the stats of a file that was changed a moment ago. */
function statsIfRecent(file: string): Stats | undefined {
  try {
    const stats = statSync(file);
    return stats.isFile() && Math.abs(Date.now() - stats.mtimeMs) < WRITE_MS ? stats : undefined;
  } catch {
    return undefined; // the caller reports a file that it cannot read
  }
}

/** The files that may be the application's module. */
const ENTRY_FILES = ["src/app.ts", "src/app.tsx", "src/app.js"];

/**
 * Returns the application module as an absolute path; `undefined` when the project has none.
 *
 * @param entry its path, absolute or relative to the root. Default: `src/app.ts`, `.tsx` or `.js`
 */
export function applicationModule(root: string, entry?: string): string | undefined {
  const candidates = entry ? [entry] : ENTRY_FILES;
  return candidates.map((file) => posix.resolve(root, normalizePath(file))).find((file) => existsSync(file));
}
