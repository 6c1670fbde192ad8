import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Plugin, parseAst } from "vite";
import { ssrExportAllKey } from "vite/module-runner";
import { isInNodeModules, stripQuery } from "./syntax/index.ts";
import { isVitest } from "./vite-config.ts";

/** Matches all code that may be a CommonJS module. Few modules match, so that few are parsed. */
const MAY_BE_COMMONJS = /\b(?:require|exports)\b/;

/** A relative file that a CommonJS module loads. */
const RELATIVE_REQUIRE = /\brequire\(\s*(["'])(\.[^"'\n]*)\1\s*\)/g;

/**
 * Lets Node run the CommonJS modules that are not in `node_modules`, such as those of a linked package of a workspace: the
 * runner of Vite's server runs ES modules only. After an edit, they run again.
 *
 * A build needs no such plugin: the bundler compiles them.
 */
export function commonJsModules(): Plugin {
  let isTest = false;
  return {
    name: "tsweb:commonjs-modules",
    apply: "serve",
    enforce: "pre",
    applyToEnvironment: ({ name }) => name === "ssr",
    configResolved(config) {
      isTest = isVitest(config); // it has a runner of its own
    },
    load: {
      filter: { id: { include: /\.c?js$/, exclude: [/\0/, /[\\/]node_modules[\\/]/] } },
      handler(id) {
        const file = stripQuery(id);
        if (isTest || !isCommonJs(file)) return null;
        const files = requiredFiles(file);
        for (const required of files) this.addWatchFile(required);
        return { code: wrapperOf(file, files), map: { mappings: "" } };
      },
    },
  };
}

/** Returns whether Node runs a file as a CommonJS module. `false` for one that does not exist. */
function isCommonJs(file: string): boolean {
  if (file.endsWith(".cjs")) return true;
  const code = readIfExists(file);
  if (!MAY_BE_COMMONJS.test(code) || isInModulePackage(file)) return false;
  try {
    return !parseAst(code).body.some(({ type }) => /^(?:Import|Export)/.test(type));
  } catch {
    return false; // Vite shows the error
  }
}

/** Returns whether the nearest package.json declares that its `.js` files are ES modules. */
function isInModulePackage(file: string): boolean {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const text = readIfExists(join(folder, "package.json"));
    if (text !== "") return /"type"\s*:\s*"module"/.test(text);
    if (folder === dirname(folder)) return false;
  }
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Returns a CommonJS module and the files of its package that it requires, directly or through others. */
function requiredFiles(file: string): string[] {
  const files = new Set([file]);
  for (const each of files) {
    for (const [, , specifier = ""] of readIfExists(each).matchAll(RELATIVE_REQUIRE)) {
      const required = resolveRequire(specifier, each);
      if (required && !isInNodeModules(required)) files.add(required);
    }
  }
  return [...files];
}

function resolveRequire(specifier: string, importer: string): string | undefined {
  try {
    return createRequire(importer).resolve(specifier);
  } catch {
    return undefined; // Node throws when the module runs
  }
}

/** Returns an ES module with the exports of a CommonJS module, as `import` of Node has them, and each of its names. */
function wrapperOf(file: string, files: readonly string[]): string {
  return `import { createRequire } from "node:module";
import { dirname, join } from "node:path";
const require = createRequire(${JSON.stringify(file)});
for (const file of ${JSON.stringify(files)}) delete require.cache[file];
const exported = require(${JSON.stringify(file)});
export default exported;
${ssrExportAllKey}(exported);
`;
}
