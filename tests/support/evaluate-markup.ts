/**
 * Compiles a module with markup as a build does, and runs it.
 */
import { transformWithOxc } from "vite";
import { readModule } from "../../src/compile/modules/index.ts";
import { emitServerCode } from "../../src/compile/server-code.ts";
import * as runtime from "../../src/pages/jsx-runtime.ts";

const FILE = "/app/src/markup.tsx";

/** Returns the code of a module for the server before its JSX is compiled. */
export function emitMarkup(code: string, hasTemplates = true): string {
  const facts = readModule({ file: FILE, code }, "/app");
  return emitServerCode(facts, { functions: [], queries: [] }, "/app", { hasTemplates })?.code ?? code;
}

/**
 * Compiles a module that imports and exports nothing, and runs it.
 *
 * @param scope the values that the module uses without declaring them
 * @returns the constant `markup` of the module
 */
export async function evaluateMarkup<T>(
  code: string,
  scope: Readonly<Record<string, unknown>>,
  hasTemplates = true,
): Promise<T> {
  const jsx = { runtime: "automatic", importSource: "tsweb" } as const;
  const compiled = await transformWithOxc(`${emitMarkup(code, hasTemplates)}\nexport {};`, FILE, { lang: "tsx", jsx });
  const imports: string[] = [];
  const body = compiled.code.replace(/import \{([^}]*)\} from "tsweb\/jsx-runtime";/g, (_, names: string) => {
    imports.push(`const {${names.replaceAll(" as ", ": ")}} = runtime;`);
    return "";
  });
  const run = new Function(
    "runtime",
    ...Object.keys(scope),
    `${imports.join("\n")}\n${body.replace("export {};", "")}\nreturn markup;`,
  );
  return run(runtime, ...Object.values(scope));
}
