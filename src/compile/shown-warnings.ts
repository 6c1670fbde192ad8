import type { SourceFile } from "./syntax/index.ts";

/** The warnings that were shown about the modules of an application. An edit of another file compiles a module again. */
export class ShownWarnings {
  readonly #byFile = new Map<string, { readonly code: string; readonly texts: ReadonlySet<string> }>();

  /** Returns the warnings that were not shown yet about this version of a module, and remembers them. */
  add({ file, code }: SourceFile, texts: readonly string[]): string[] {
    const known = this.#byFile.get(file);
    const shown = known?.code === code ? known.texts : new Set<string>();
    this.#byFile.set(file, { code, texts: new Set([...shown, ...texts]) });
    return [...new Set(texts)].filter((text) => !shown.has(text));
  }
}
