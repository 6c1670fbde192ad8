import type { Rolldown } from "vite";

/** A script of the browser's build. All paths start with a slash. */
export interface BuiltScript {
  readonly imports: readonly string[];
  /** The scripts that it loads on demand. */
  readonly dynamicImports: readonly string[];
  /** The code of its modules before it was minified, by their ids. */
  readonly modules: Readonly<Record<string, string>>;
}

/** The scripts and style sheets of the browser's build, by their paths. */
export interface BuiltFiles {
  readonly scripts: ReadonlyMap<string, BuiltScript>;
  /** The source files of style sheets, relative to the project's folder. */
  readonly styleSources: ReadonlyMap<string, string>;
}

/**
 * Reads the files of the browser's build.
 *
 * @param onDemand the files that modules load by their URL, by the modules' ids
 */
export function readBuiltFiles(bundle: Rolldown.OutputBundle, onDemand: ReadonlyMap<string, string>): BuiltFiles {
  const scripts = new Map<string, BuiltScript>();
  const styleSources = new Map<string, string>();
  for (const file of Object.values(bundle)) {
    const path = `/${file.fileName}`;
    if (file.type === "asset") {
      const [source] = file.originalFileNames;
      if (source !== undefined && file.fileName.endsWith(".css")) styleSources.set(path, source);
      continue;
    }
    const byUrl = file.moduleIds.flatMap((id) => onDemand.get(id) ?? []);
    // Vite has removed the scripts of style sheets in an `import()`: the browser loads the sheets only.
    const dynamicImports = [...file.dynamicImports, ...byUrl].filter((name) => name in bundle);
    scripts.set(path, {
      imports: file.imports.map((name) => `/${name}`),
      dynamicImports: dynamicImports.map((name) => `/${name}`),
      modules: Object.fromEntries(Object.entries(file.modules).map(([id, { code }]) => [id, code ?? ""])),
    });
  }
  return { scripts, styleSources };
}
