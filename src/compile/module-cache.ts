import { readFile, stat } from "node:fs/promises";
import { type ModuleFacts, readModule } from "./module-facts.ts";
import { CompileError, isScript, type SourceFile, stripQuery } from "./syntax/index.ts";

/** Reads the modules of a project. Each text of a module is parsed once. */
export class ModuleCache {
  /** The project's root, absolute, with forward slashes. */
  readonly root: string;
  private readonly byStamp = new Map<string, { readonly stamp: string; readonly facts: ModuleFacts }>();
  private readonly byText = new Map<string, ModuleFacts>();

  constructor(root: string) {
    this.root = root;
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
  async readFile(file: string): Promise<ModuleFacts> {
    const { mtimeMs, size } = await stat(file);
    const stamp = `${mtimeMs}:${size}`;
    const cached = this.byStamp.get(file);
    if (cached?.stamp === stamp) return cached.facts;
    const facts = this.readText({ file, code: await readFile(file, "utf8") });
    this.byStamp.set(file, { stamp, facts });
    return facts;
  }

  /**
   * Reads a module that another module imports. A module with a compile error counts as missing here: the
   * error is reported when that module itself is compiled.
   */
  async readIfValid(id: string | undefined): Promise<ModuleFacts | undefined> {
    if (id === undefined || (!id.startsWith("/") && !/^[a-z]:/i.test(id))) return undefined;
    const file = stripQuery(id);
    if (!isScript(file)) return undefined;
    try {
      return await this.readFile(file);
    } catch (error) {
      if (error instanceof CompileError || isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Removes a file from the cache. */
  delete(file: string): void {
    this.byStamp.delete(file);
    this.byText.delete(file);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EISDIR");
}
