import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { isVitest } from "./config.ts";

const RUNTIME = "virtual:tsweb/refresh";
const RESOLVED = `\0${RUNTIME}`;

/**
 * Makes an edited view change on the screen with its state kept, in development. The compiler names every
 * component of a module (`oxc.jsx.refresh`); this tells Prefresh of them, and accepts the new module.
 */
export function refresh(): Plugin {
  return {
    name: "tsweb:refresh",
    apply: "serve",
    applyToEnvironment: (environment) => environment.name === "client",
    configResolved(config) {
      // Tests know no hot reload: what the compiler adds for it would be left without its runtime.
      if (isVitest(config) && config.oxc && typeof config.oxc.jsx === "object") config.oxc.jsx.refresh = false;
    },
    resolveId: {
      order: "pre",
      async handler(source, importer) {
        if (source === RUNTIME) return RESOLVED;
        // Both belong to tsweb: an application has them nowhere near, and need not know of them.
        if (importer !== RESOLVED || !source.startsWith("@prefresh/")) return null;
        return this.resolve(source, fileURLToPath(import.meta.url), { skipSelf: true });
      },
    },
    load: (id) => (id === RESOLVED ? RUNTIME_CODE : null),
    transform(code, id) {
      if (!code.includes("$RefreshReg$(")) return null;
      const name = JSON.stringify(id.replace(/[?#].*$/s, ""));
      // One line in front, so the map moves with it by Vite's own: `mappings` of the rest stay in place.
      return { code: `${before(name)}${code}\n${AFTER}`, map: null };
    },
  };
}

const RUNTIME_CODE = `
import "@prefresh/core";
import { flush } from "@prefresh/utils";
const hooks = self.__PREFRESH__;
const components = new WeakSet();
export const registrar = (file) => (type, id) => {
  if (typeof type === "function") components.add(type);
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
// A view may be a function without a name, so what counts is that the compiler called it a component.
export const accept = (module) => Object.values(module).every((value) => typeof value === "function" && components.has(value));
export { flush };
`;

/** On the module's first line, so that every line keeps its number. */
function before(file: string): string {
  return `import { registrar as $tsweb_registrar, signer as $RefreshSig$, accept as $tsweb_accept, flush as $tsweb_flush } from "${RUNTIME}"; const $RefreshReg$ = $tsweb_registrar(${file}); `;
}

const AFTER = `if (import.meta.hot) import.meta.hot.accept((module) => {
  if (!module || !$tsweb_accept(module)) import.meta.hot.invalidate();
  else $tsweb_flush();
});`;
