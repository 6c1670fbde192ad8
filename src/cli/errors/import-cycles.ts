import { existsSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { positionIn } from "./stack-frames.ts";

/** A frame of the top level of a module, as the module runner of Vite evaluates it. */
const MODULE_FRAME = /^\s*at (?:async )?eval \(/;

/** How many modules are read at most in search of a cycle. */
const MAX_MODULES = 200;

/**
 * Returns which modules import each other, if an error was thrown while a module was evaluated and the value that is missing may
 * be that of a module that has not been evaluated yet. Otherwise an empty string.
 *
 * @param frames the frames of the error that are in the application, the innermost first
 * @param root the project's root, absolute
 */
export function importCycleAdvice(
  { name, message }: { readonly name?: string; readonly message: string },
  frames: readonly string[],
  root: string,
): string {
  const isAboutMissingValue =
    name === "TypeError" && /\bundefined\b| is not a (?:function|constructor)\b/.test(message);
  if (!isAboutMissingValue || !frames.every((frame) => MODULE_FRAME.test(frame))) return "";
  const [thrower, ...importers] = frames.flatMap((frame) => positionIn(frame)?.file ?? []);
  const path = thrower === undefined ? undefined : pathTo(thrower, new Set(importers));
  if (!path) return "";
  const cycle = path.map((file) => posix.relative(root, file)).join(" → ");
  return (
    `These modules import each other: ${cycle} → ${posix.relative(root, path[0] ?? "")}. So the first of them is evaluated before ` +
    "what it imports. Move what both use into a module of its own, or use the import inside of a function."
  );
}

/** Returns the modules from a file to one of its importers, by their imports; `undefined` if it imports none of them. */
function pathTo(file: string, importers: ReadonlySet<string>): readonly string[] | undefined {
  const paths: (readonly string[])[] = [[file]];
  const seen = new Set([file]);
  for (const path of paths) {
    for (const imported of importsOf(path.at(-1) ?? "")) {
      if (importers.has(imported)) return [...path, imported];
      if (seen.has(imported) || seen.size >= MAX_MODULES) continue;
      seen.add(imported);
      paths.push([...path, imported]);
    }
  }
  return undefined;
}

/** Returns the files that a module imports by a relative path. */
function importsOf(file: string): string[] {
  const code = existsSync(file) ? readFileSync(file, "utf8") : "";
  return [...code.matchAll(/^\s*(?:import|export)\b(?!\s+type\b)[^;"']*["'](\.{1,2}\/[^"']+)["']/gm)].flatMap(
    ([, specifier = ""]) => {
      const path = posix.join(posix.dirname(file), specifier);
      const candidates = [path, `${path}.ts`, `${path}.tsx`, path.replace(/\.js(x?)$/, ".ts$1"), `${path}/index.ts`];
      return candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile()) ?? [];
    },
  );
}
