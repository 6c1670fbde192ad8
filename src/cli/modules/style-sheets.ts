import type { Plugin } from "vite";
import { STYLE_SHEET } from "../project/index.ts";

const CSS_MODULE = /\.module\.\w+$/;

const EMPTY = "\0tsweb:style-sheet";

/**
 * Removes imports of style sheets from scripts. Pages link every sheet that their modules import, so that it applies
 * before the first paint, also without scripts. CSS modules stay: views need their class names.
 */
export function emptyStyleSheets(): Plugin {
  return {
    name: "tsweb:style-sheets",
    enforce: "pre",
    applyToEnvironment: (environment) => environment.name === "client",
    resolveId(source, importer) {
      const isSheet = STYLE_SHEET.test(source) && !CSS_MODULE.test(source);
      // A sheet that another sheet imports, and one that is an input of the build, are kept.
      return isSheet && importer !== undefined && !STYLE_SHEET.test(importer) ? EMPTY : undefined;
    },
    load: (id) => (id === EMPTY ? "" : undefined),
    hotUpdate({ file, modules }) {
      // A view that imports a CSS module replaces it by itself. The linked sheet accepts no update and would reload
      // the page.
      const scripts = modules.filter(({ url }) => !/[?&]direct\b/.test(url));
      return CSS_MODULE.test(file) && scripts.length > 0 ? scripts : undefined;
    },
  };
}
