import type { Plugin } from "vite";
import { STYLE_SHEET } from "./project.ts";

const CSS_MODULE = /\.module\.\w+$/;

const EMPTY = "\0tsweb:style-sheet";

/**
 * Keeps style sheets out of scripts: pages link every sheet that their modules import, so that it
 * is there before the first line is shown, also without a script. CSS modules stay: views need the
 * names of their classes.
 */
export function emptyStyleSheets(): Plugin {
  return {
    name: "tsweb:style-sheets",
    enforce: "pre",
    applyToEnvironment: (environment) => environment.name === "client",
    resolveId(source, importer) {
      const wanted = STYLE_SHEET.test(source) && !CSS_MODULE.test(source);
      // A sheet that imports another, and one that is asked for by itself, are the real thing.
      return wanted && importer !== undefined && !STYLE_SHEET.test(importer) ? EMPTY : undefined;
    },
    load: (id) => (id === EMPTY ? "" : undefined),
    hotUpdate({ file, modules }) {
      // A view that imports a CSS module brings the new one with it. The linked one accepts no update,
      // and would reload the page.
      const scripts = modules.filter(({ url }) => !/[?&]direct\b/.test(url));
      return CSS_MODULE.test(file) && scripts.length > 0 ? scripts : undefined;
    },
  };
}
