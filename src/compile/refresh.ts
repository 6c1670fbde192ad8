import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { VIEWS_UPDATE_EVENT } from "../protocol/index.ts";
import { isVitest } from "./vite-config.ts";

const RUNTIME_ID = "virtual:tsweb/refresh";
const RESOLVED_RUNTIME_ID = `\0${RUNTIME_ID}`;

/**
 * Returns the Vite plugin that updates an edited view in place and keeps its state, in development. The compiler
 * registers every component of a module (`oxc.jsx.refresh`); this plugin connects that to Prefresh and accepts
 * the hot update.
 */
export function refresh(): Plugin {
  return {
    name: "tsweb:refresh",
    apply: "serve",
    applyToEnvironment: (environment) => environment.name === "client",
    configResolved(config) {
      // Vitest has no hot module replacement, so the code that the compiler adds for it would fail.
      if (isVitest(config) && config.oxc && typeof config.oxc.jsx === "object") config.oxc.jsx.refresh = false;
    },
    resolveId: {
      order: "pre",
      async handler(source, importer) {
        if (source === RUNTIME_ID) return RESOLVED_RUNTIME_ID;
        // Prefresh is a dependency of tsweb, so it is resolved from this package and not from the application.
        if (importer !== RESOLVED_RUNTIME_ID || !source.startsWith("@prefresh/")) return null;
        return this.resolve(source, fileURLToPath(import.meta.url), { skipSelf: true });
      },
    },
    load: (id) => (id === RESOLVED_RUNTIME_ID ? RUNTIME_CODE : null),
    transform(code, id) {
      if (!code.includes("$RefreshReg$(")) return null;
      const name = JSON.stringify(id.replace(/[?#].*$/s, ""));
      // The preamble shares the first line of the module, so the existing source map stays valid for every line.
      return { code: `${preamble(name)}${code}\n${POSTAMBLE}`, map: null };
    },
  };
}

const RUNTIME_CODE = `
import "@prefresh/core";
import { flush } from "@prefresh/utils";
const hooks = self.__PREFRESH__;
const components = new WeakSet();
export const registrar = (file) => (type, id) => {
  if (typeof type === "function") {
    components.add(type);
    // Messages name a view by its export, which is the first part of the id. The compiler has named its function _c, _c2 …
    if (/^(?:_c\\d*)?$/.test(type.name) && !Object.hasOwn(type, "displayName")) type.displayName = id.replace(/\\$.*/s, "");
  }
  hooks.register(type, file + " " + id);
};
export const signer = () => {
  let status = "begin";
  let savedType;
  return (type, key, forceReset, getCustomHooks) => {
    if (!savedType) savedType = type;
    status = hooks.sign(type || savedType, key, forceReset, getCustomHooks, status);
    return type;
  };
};
// A view may be an anonymous function, so components are recognised by identity and not by their names.
export const accept = (module) => Object.values(module).every((value) => typeof value === "function" && components.has(value));
// A page script that reloads the page prevents the event (src/browser/dev/development.ts).
export const update = () => {
  if (dispatchEvent(new Event("${VIEWS_UPDATE_EVENT}", { cancelable: true }))) flush();
};
`;

/** Returns the code before a module, without a line break, so that the module's line numbers do not change. */
function preamble(file: string): string {
  return `import { registrar as $tsweb_registrar, signer as $RefreshSig$, accept as $tsweb_accept, update as $tsweb_update } from "${RUNTIME_ID}"; const $RefreshReg$ = $tsweb_registrar(${file}); `;
}

/** Without a module, it could not be loaded, for example after a syntax error: the overlay shows why, and the page keeps its state. */
const POSTAMBLE = `if (import.meta.hot) import.meta.hot.accept((module) => {
  if (!module) return;
  if ($tsweb_accept(module)) $tsweb_update();
  else import.meta.hot.invalidate();
});`;
