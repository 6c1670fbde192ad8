import { vi } from "vitest";
import type { App } from "../../src/app.ts";
import { processApps } from "../../src/live/app-registry.ts";
import { requireInternals } from "../../src/server/index.ts";

/** What a development server provides to its application. */
export type Development = Parameters<ReturnType<typeof requireInternals>["setDevelopment"]>[0];

const NO_ASSETS = {
  scripts: [],
  islands: { src: "", preload: [] },
  partViews: { src: "", preload: [] },
  view: () => ({ src: "", preload: [] }),
  styles: () => [],
};

/**
 * Makes an application one of a development server, which has no scripts and style sheets. Its process does not become one: the
 * applications of later test files in it would replace each other, and share what was revoked.
 */
export function setDevelopment(app: App, development: Partial<Development> = {}): void {
  vi.spyOn(processApps, "setDevelopmentApp").mockReturnValue(undefined);
  requireInternals(app, "the test").setDevelopment({
    ...{ assets: NO_ASSETS, called: [], publicFiles: null, printError: () => undefined },
    buildTool: { nonce: "0", reportPath: "/" },
    showError: async () => "error page",
    openapi: () => "{}",
    ...development,
  });
}
