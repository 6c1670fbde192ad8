import type { Plugin } from "vite";
import { STYLE_SHEET } from "../project/index.ts";

const CSS_MODULE = /\.module\.\w+$/;

const EMPTY = "\0tsweb:style-sheet";

/** Added to the URL of a style sheet in an `import()`, in development. `STYLE_SHEET` does not match such a URL. */
const ON_DEMAND = "?on-demand";

/** An `import()` of a literal. */
const DYNAMIC_IMPORT = /\bimport\(\s*(?:\/\*.*?\*\/\s*)?["'`]([^"'`\n]+)["'`]\s*\)/g;

/**
 * Removes imports of style sheets from scripts. Pages link every sheet that their modules import, so that it applies
 * before the first paint, also without scripts. CSS modules stay: views need their class names. A sheet in an `import()` stays
 * too: it applies from when the script imports it.
 */
export function emptyStyleSheets(): Plugin[] {
  const isPlainSheet = (source: string) => STYLE_SHEET.test(source) && !CSS_MODULE.test(source);
  const isBrowser: Plugin["applyToEnvironment"] = (environment) => environment.name === "client";
  return [
    {
      name: "tsweb:style-sheets",
      enforce: "pre",
      applyToEnvironment: isBrowser,
      resolveId(source, importer, { kind }) {
        // A sheet that another sheet imports, and one that is an input of the build, are kept.
        const isScriptImport = importer !== undefined && !STYLE_SHEET.test(importer);
        return isPlainSheet(source) && isScriptImport && kind !== "dynamic-import" ? EMPTY : undefined;
      },
      load: (id) => (id === EMPTY ? "" : undefined),
      hotUpdate({ file, modules }) {
        // A view that imports a CSS module replaces it by itself. The linked sheet accepts no update and would reload
        // the page.
        const scripts = modules.filter(({ url }) => !/[?&]direct\b/.test(url));
        return CSS_MODULE.test(file) && scripts.length > 0 ? scripts : undefined;
      },
    },
    {
      // The development server does not pass the kind of an import to `resolveId`, so that the URL has to tell it.
      name: "tsweb:style-sheets-on-demand",
      enforce: "post", // after `import.meta.glob` was replaced by imports
      apply: "serve",
      applyToEnvironment: isBrowser,
      transform(code) {
        const marked = code.replace(DYNAMIC_IMPORT, (text: string, url: string) =>
          isPlainSheet(url) ? text.replace(url, `${url}${ON_DEMAND}`) : text,
        );
        return marked === code ? null : { code: marked, map: null }; // the lines stay the same
      },
    },
  ];
}
