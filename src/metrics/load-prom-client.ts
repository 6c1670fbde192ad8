import { ConfigError } from "../config/index.ts";

/** The functions of prom-client. */
export type PromClient = typeof import("prom-client");

/**
 * Loads prom-client, an optional peer dependency: only applications with metrics install it.
 *
 * @param variable the environment variable that requires it
 * @throws ConfigError with the install command if it cannot be loaded
 */
export async function loadPromClient(variable: string): Promise<PromClient> {
  try {
    const module: PromClient & { readonly default?: PromClient } = await import("prom-client");
    return module.default ?? module; // it is a CommonJS module
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ConfigError([
      {
        variable,
        problem: `is set, but the package prom-client could not be loaded (${reason}).`,
        fix: "Install it in the application, then build the application again: npm install prom-client",
      },
    ]);
  }
}
