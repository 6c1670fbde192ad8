import { readFileSync } from "node:fs";
import { type Plugin, parseAst } from "vite";
import {
  CompileError,
  isInNodeModules,
  isScript,
  type Node,
  parse,
  type SourceFile,
  stripQuery,
  walk,
} from "./syntax/index.ts";

/** Matches all code that may have a decorator or an accessor. Few modules match, so that few are parsed. */
const MAY_BE_UNSUPPORTED = /@|\baccessor\b/;

/**
 * Rejects decorators and accessors that are left after compilation: neither Node nor browsers run them. Those of TypeScript
 * (`experimentalDecorators` in tsconfig.json) are compiled, and a plugin of the application may compile the others.
 */
export function unsupportedSyntax(): Plugin {
  return {
    name: "tsweb:unsupported-syntax",
    enforce: "post",
    sharedDuringBuild: true,
    transform: {
      filter: { code: MAY_BE_UNSUPPORTED },
      handler(code, id) {
        const file = stripQuery(id);
        if (!isScript(file) || id.startsWith("\0") || isInNodeModules(file)) return null;
        rejectUnsupportedSyntax(code, () => ({ file, code: readFileSync(file, "utf8") }));
        return null;
      },
    },
  };
}

/**
 * Rejects a module with decorators or accessors after its compilation.
 *
 * @param code the compiled module
 * @param readSource returns its source
 * @throws CompileError at the first of them in the source
 */
export function rejectUnsupportedSyntax(code: string, readSource: () => SourceFile): void {
  if (!MAY_BE_UNSUPPORTED.test(code)) return;
  const compiled = findUnsupported(parseIfValid(code));
  if (!compiled) return;
  const source = readSource();
  const what = compiled.type === "Decorator" ? "Decorators" : "`accessor` fields";
  throw new CompileError(
    `${what} are not compiled, and Node does not run them. Write the class without them, add a plugin to vite.config.ts that ` +
      "compiles them, or set experimentalDecorators in tsconfig.json for the decorators of TypeScript.",
    source,
    findUnsupported(parse(source)) ?? { start: 0, end: 1 }, // a plugin may have created it
  );
}

/** Returns the program of a compiled module; `undefined` for a syntax error, which the bundler or Node reports. */
function parseIfValid(code: string): Node | undefined {
  try {
    return parseAst(code);
  } catch {
    return undefined;
  }
}

function findUnsupported(program: Node | undefined): Node | undefined {
  let found: Node | undefined;
  if (!program) return undefined;
  walk(program, (node) => {
    if (node.type === "Decorator" || node.type === "AccessorProperty") found ??= node;
    return found === undefined;
  });
  return found;
}
