import { readFile, stat } from "node:fs/promises";
import { CompileError, type Source } from "./errors.ts";
import { type ModuleFacts, readModule } from "./module.ts";
import { fileOf, isScript } from "./parse.ts";

/** Finds the module that a specifier means: its id, or `undefined` when there is none. */
export type Resolve = (specifier: string, importer: string) => Promise<string | undefined>;

/** The modules of a project, as the checks between modules ask for them. */
export interface Modules {
  /** The project's root, absolute, with forward slashes. */
  readonly root: string;
  /** Reads a module by its id; `undefined` when it is no script of the project, or cannot be read. */
  other(id: string | undefined): Promise<ModuleFacts | undefined>;
}

/** Reads the modules of a project, each once for each text it has. */
export class ModuleReader implements Modules {
  readonly root: string;
  private readonly known = new Map<string, { readonly stamp: string; readonly facts: ModuleFacts }>();
  private readonly texts = new Map<string, ModuleFacts>();

  constructor(root: string) {
    this.root = root;
  }

  /**
   * Reads a module whose text is at hand.
   *
   * @throws CompileError for anything in it that tsweb refuses
   */
  text(source: Source): ModuleFacts {
    const known = this.texts.get(source.file);
    if (known?.source.code === source.code) return known;
    const facts = readModule(source, this.root);
    this.texts.set(source.file, facts);
    return facts;
  }

  /**
   * Reads a module from its file, anew when the file has changed.
   *
   * @throws CompileError for anything in it that tsweb refuses
   */
  async file(file: string): Promise<ModuleFacts> {
    const { mtimeMs, size } = await stat(file);
    const stamp = `${mtimeMs}:${size}`;
    const known = this.known.get(file);
    if (known?.stamp === stamp) return known.facts;
    const facts = this.text({ file, code: await readFile(file, "utf8") });
    this.known.set(file, { stamp, facts });
    return facts;
  }

  /**
   * Reads another module for a question about the one at hand. What is wrong with that one is told
   * when it is compiled itself, so here it is as if it were not there.
   */
  async other(id: string | undefined): Promise<ModuleFacts | undefined> {
    if (id === undefined || (!id.startsWith("/") && !/^[a-z]:/i.test(id))) return undefined;
    const file = fileOf(id);
    if (!isScript(file)) return undefined;
    try {
      return await this.file(file);
    } catch (error) {
      if (error instanceof CompileError || isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Forgets a file, so that it is read anew. */
  forget(file: string): void {
    this.known.delete(file);
    this.texts.delete(file);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EISDIR");
}

/** What is behind a name that a module exports. */
export interface Origin {
  readonly facts: ModuleFacts;
  /** The name in the module that makes it. */
  readonly name: string;
}

/** How modules are found and read. */
export interface World {
  readonly modules: Modules;
  readonly resolve: Resolve;
}

/**
 * Follows a name through re-exports to the module that makes it.
 *
 * @returns `undefined` when that cannot be told, as for a name of an installed package
 */
export async function originOf(
  id: string | undefined,
  name: string,
  world: World,
  depth = 0,
): Promise<Origin | undefined> {
  // Two modules that re-export each other would be followed forever.
  if (depth > 16) return undefined;
  const facts = await world.modules.other(id);
  if (!facts) return undefined;
  const exported = facts.exports.named.find((each) => each.name === name);
  if (exported?.from) {
    const from = await world.resolve(exported.from.source, facts.source.file);
    return originOf(from, exported.from.name, world, depth + 1);
  }
  if (exported) return { facts, name };
  for (const star of facts.exports.stars) {
    const found = await originOf(await world.resolve(star.source, facts.source.file), name, world, depth + 1);
    if (found) return found;
  }
  return undefined;
}
