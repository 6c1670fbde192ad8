import { posix } from "node:path";
import { CompileError } from "../../src/compile/errors.ts";
import { readModule } from "../../src/compile/module.ts";
import type { World } from "../../src/compile/world.ts";

const ROOT = "/app";

/** A text in which `«` marks the place that an error must name. */
export interface Marked {
  readonly code: string;
  readonly place: { readonly line: number; readonly column: number } | undefined;
}

/** Takes the mark out of a text and says where it stood. */
export function marked(text: string): Marked {
  const at = text.indexOf("«");
  if (at < 0) return { code: text, place: undefined };
  const before = text.slice(0, at);
  return {
    code: text.replace("«", ""),
    place: { line: before.split("\n").length, column: at - before.lastIndexOf("\n") - 1 },
  };
}

/** Modules that are nowhere but in this test, by their paths from the root. */
export function memoryWorld(files: Readonly<Record<string, string>>): World {
  const exists = (file: string) => Object.hasOwn(files, posix.relative(ROOT, file));
  return {
    modules: {
      root: ROOT,
      other: async (id) => {
        const file = id?.replace(/\?.*/, "");
        const code = file && files[posix.relative(ROOT, file)];
        if (!file || code === undefined) return undefined;
        try {
          return readModule({ file, code: marked(code).code }, ROOT);
        } catch (error) {
          if (error instanceof CompileError) return undefined;
          throw error;
        }
      },
    },
    resolve: async (specifier, importer) => {
      const [path = "", query] = specifier.split("?");
      const target = path.startsWith("~/")
        ? posix.join(ROOT, "src", path.slice(2))
        : posix.resolve(posix.dirname(importer), path);
      const found = ["", ".ts", ".tsx"].map((ending) => target + ending).find(exists);
      return found && (query === undefined ? found : `${found}?${query}`);
    },
  };
}

/** Reads one of the modules of a test. */
export function read(file: string, code: string) {
  return readModule({ file: posix.join(ROOT, file), code: marked(code).code }, ROOT);
}

/** Gives the error that something is refused with. */
export async function refusedWith(run: () => unknown): Promise<CompileError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof CompileError) return error;
    throw error;
  }
  throw new Error("Nothing was refused.");
}
