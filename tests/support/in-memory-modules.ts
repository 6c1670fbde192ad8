import { posix } from "node:path";
import { expect } from "vitest";
import { type ModuleResolver, readModule } from "../../src/compile/modules/index.ts";
import { checkModuleAlone } from "../../src/compile/rules/index.ts";
import { CompileError } from "../../src/compile/syntax/index.ts";

const ROOT = "/app";

/** Source code without its marker `«`, and the location of the expected error, which the marker specified. */
export interface MarkedCode {
  readonly code: string;
  readonly location: { readonly line: number; readonly column: number } | undefined;
}

/** Removes the marker `«` from source code and returns its location. */
export function parseMarkedCode(text: string): MarkedCode {
  const at = text.indexOf("«");
  if (at < 0) return { code: text, location: undefined };
  const before = text.slice(0, at);
  return {
    code: text.replace("«", ""),
    location: { line: before.split("\n").length, column: at - before.lastIndexOf("\n") - 1 },
  };
}

/** Returns a resolver of modules that exist only in memory, by their paths relative to the root `/app`. */
export function inMemoryResolver(files: Readonly<Record<string, string>>): ModuleResolver {
  const exists = (file: string) => Object.hasOwn(files, posix.relative(ROOT, file));
  return {
    root: ROOT,
    read: async (id) => {
      const file = id?.replace(/\?.*/, "");
      const code = file && files[posix.relative(ROOT, file)];
      if (!file || code === undefined) return undefined;
      try {
        return readModule({ file, code: parseMarkedCode(code).code }, ROOT);
      } catch (error) {
        if (error instanceof CompileError) return undefined;
        throw error;
      }
    },
    resolve: async (specifier, importer) => {
      const [path = "", query] = specifier.split("?");
      const target = path.startsWith("~/")
        ? posix.join(ROOT, "src", path.slice(2))
        : posix.resolve(posix.dirname(importer), path);
      const file = ["", ".ts", ".tsx"].map((extension) => target + extension).find(exists);
      return file && (query === undefined ? file : `${file}?${query}`);
    },
  };
}

/** Reads one module of a test, and checks it by the rules that need no other module. */
export function readTestModule(file: string, code: string) {
  const facts = readModule({ file: posix.join(ROOT, file), code: parseMarkedCode(code).code }, ROOT);
  checkModuleAlone(facts);
  return facts;
}

/** Runs a check and returns the CompileError that it throws. */
export async function compileErrorOf(run: () => unknown): Promise<CompileError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof CompileError) return error;
    throw error;
  }
  throw new Error("No CompileError was thrown.");
}

/**
 * Runs a check of a module and returns the CompileError that it throws, which must be at the marker of the code.
 *
 * @param file the module, relative to the root `/app`
 * @param text the code with its marker
 * @param check Default: {@link readTestModule}
 */
export async function compileErrorAt(
  file: string,
  text: string,
  check: (text: string, file: string) => unknown = () => readTestModule(file, text),
): Promise<CompileError> {
  const { location } = parseMarkedCode(text);
  if (!location) throw new Error(`The code has no marker: ${text}`);
  const error = await compileErrorOf(() => check(text, file));
  expect(error.loc).toEqual({ file: posix.join(ROOT, file), ...location });
  return error;
}
