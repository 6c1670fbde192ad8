import { defaultExternalConditions, type Plugin } from "vite";
import { CONDITION, CONDITION_FLAG } from "./condition.ts";

/**
 * Resolves what the application imports from the package as Node does in this process. Otherwise the application would have another
 * instance of it. With a debugger, the process does not have the condition. Vite resolves the imports of its config without it.
 */
export function resolveBundles(): Plugin {
  return {
    name: "tsweb:resolve-bundles",
    config: () =>
      process.execArgv.includes(CONDITION_FLAG)
        ? { environments: { ssr: { resolve: { externalConditions: [CONDITION, ...defaultExternalConditions] } } } }
        : undefined,
  };
}
