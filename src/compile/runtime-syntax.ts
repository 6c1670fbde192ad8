/**
 * New syntax that the Node of this process may not run: decorators and accessors are rejected, and `using` is compiled.
 */
import { readFileSync } from "node:fs";
import { Script } from "node:vm";
import { type Plugin, parseAst, transformWithOxc } from "vite";
import { PACKAGE_MODULES } from "./page-views.ts";
import {
  CompileError,
  findNode,
  isInNodeModules,
  isScript,
  type Node,
  parse,
  type SourceFile,
  stripQuery,
} from "./syntax/index.ts";

/** Matches all code that may have a decorator or an accessor. Few modules match, so that few are parsed: tags of comments do not. */
const MAY_BE_UNSUPPORTED = /(?<!\* |\/\/ |[\w-])@(?<!\{@(?=link ))|\baccessor\b/;

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
      filter: { id: { exclude: [/^\0/, ...PACKAGE_MODULES] }, code: MAY_BE_UNSUPPORTED },
      handler(code, id) {
        const file = stripQuery(id);
        if (!isScript(file)) return null;
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
  return program && findNode(program, ({ type }) => type === "Decorator" || type === "AccessorProperty");
}

/** Matches all code that may have `using` or `await using`. Few modules match, so that few are compiled once more. */
const MAY_HAVE_USING = /\busing\s+[\w$\\\u0080-\uffff]/;

/** The import that the compiler adds to a module with such declarations. Only the bundler of a build resolves it. */
const HELPER_IMPORT = /import (?<name>[\w$]+) from "@oxc-project\/runtime\/helpers\/usingCtx";/;

/** Whether this Node runs `using`: Node 24 and later. */
const isSupported = canRun("{ using nothing = null; }");

/** The target of the compiler for code that this process runs: all syntax stays, except `using` if Node does not run it. */
export const RUNTIME_TARGET = isSupported ? "esnext" : "es2025";

/** Compiles `using` and `await using` in the modules that `tsweb dev` and other commands run, as a build does. */
export function usingDeclarations(): Plugin {
  return {
    name: "tsweb:using-declarations",
    apply: (_config, { command }) => command === "serve" && !isSupported,
    enforce: "post",
    applyToEnvironment: ({ name }) => name === "ssr",
    transform: {
      filter: { code: MAY_HAVE_USING },
      async handler(code, id) {
        const file = stripQuery(id);
        if (!isScript(file) || id.startsWith("\0") || isInNodeModules(file)) return null;
        const result = await transformWithOxc(code, file, {
          lang: "js",
          sourceType: "module",
          target: RUNTIME_TARGET,
          sourcemap: true,
        });
        return HELPER_IMPORT.test(result.code)
          ? { code: inlineUsingHelper(result.code), map: result.map ?? null }
          : null;
      },
    },
  };
}

/** Returns whether a module may have `using`, and Node does not run it. Errs towards yes. */
export function mayHaveUnsupportedUsing(code: string): boolean {
  return !isSupported && MAY_HAVE_USING.test(code);
}

/** Replaces the import of the compiler's helper for `using` by the helper. Lines do not change. */
export function inlineUsingHelper(code: string): string {
  return code.replace(HELPER_IMPORT, (_import, name: string) => `const ${name} = ${HELPER};`);
}

function canRun(code: string): boolean {
  try {
    return new Script(code) instanceof Script;
  } catch {
    return false;
  }
}

/**
 * Creates the resources of one block: `u` adds one of `using`, `a` one of `await using`, `e` is the error of the block, and `d`
 * disposes of all, the last one first. `d` returns a promise if one of them is of `await using`.
 *
 * @see https://tc39.es/ecma262/#sec-disposeresources
 */
const HELPER = `() => {
  const none = {};
  const resources = [];
  const add = (isAsync, value) => {
    if (value === null || value === undefined) {
      if (isAsync) resources.push({ isAsync });
      return value;
    }
    if (Object(value) !== value) throw new TypeError("The value of a using declaration must be an object, a function, null or undefined.");
    const asyncDispose = isAsync ? value[Symbol.asyncDispose] : undefined;
    const dispose = asyncDispose ?? value[Symbol.dispose];
    if (typeof dispose !== "function") throw new TypeError("The value of a using declaration has no method [Symbol." + (isAsync ? "asyncDispose]() or [Symbol.dispose]()." : "dispose]()."));
    resources.push({ isAsync, run: () => { const result = dispose.call(value); return asyncDispose ? result : undefined; } });
    return value;
  };
  const suppress = (error, suppressed) => typeof SuppressedError === "function" ? new SuppressedError(error, suppressed)
    : Object.assign(new Error("An error was suppressed during disposal."), { name: "SuppressedError", error, suppressed });
  return {
    e: none,
    u: (value) => add(false, value),
    a: (value) => add(true, value),
    d() {
      let failure = this.e;
      const fail = (error) => { failure = failure === none ? error : suppress(error, failure); };
      const end = () => { if (failure !== none) throw failure; };
      const isAsync = resources.some((resource) => resource.isAsync);
      const disposeAll = async () => {
        for (const { run, isAsync } of resources.reverse()) {
          try {
            const result = run?.();
            if (isAsync) await result;
          } catch (error) { fail(error); }
        }
        end();
      };
      if (isAsync) return disposeAll();
      for (const { run } of resources.reverse()) {
        try { run(); } catch (error) { fail(error); }
      }
      end();
    },
  };
}`.replaceAll(/\n\s*/g, " ");
