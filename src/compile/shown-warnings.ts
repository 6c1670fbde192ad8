import { posix } from "node:path";
import type { SourceFile } from "./syntax/index.ts";

/** The warnings that were shown about the modules of an application. An edit of another file compiles a module again. */
export class ShownWarnings {
  readonly #byFile = new Map<string, { readonly code: string; readonly texts: Set<string> }>();

  /**
   * Returns the warnings that were not shown yet about this version of a module, and remembers them. Several modules may have the
   * same warning, about one that they import: it is shown once, and again after an edit of that one.
   */
  add({ file, code }: SourceFile, texts: readonly string[]): string[] {
    const known = this.#byFile.get(file);
    if (known && known.code !== code) this.#forget(file);
    const own = known?.code === code ? known.texts : new Set<string>();
    this.#byFile.set(file, { code, texts: own });
    const shown = new Set([...this.#byFile.values()].flatMap(({ texts }) => [...texts].filter(namesLocation)));
    const added = [...new Set(texts)].filter((text) => !own.has(text) && !shown.has(text));
    for (const text of texts) own.add(text);
    return added;
  }

  /** Forgets the warnings about a file that has changed: its own, and those of other modules that name it. */
  #forget(file: string): void {
    this.#byFile.delete(file);
    const name = posix.basename(file);
    for (const { texts } of this.#byFile.values())
      for (const text of texts) if (text.includes(name)) texts.delete(text);
  }
}

/** Returns whether a warning names a file and a line, so that it is the same one in whichever module it is found. */
function namesLocation(text: string): boolean {
  return /\.[cm]?[jt]sx?:\d/.test(text);
}
