/**
 * Runs scenarios in each engine that is installed.
 */
import { existsSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, it } from "vitest";
import { IS_MATRIX } from "#test/matrix";
import { launchChromium } from "./chromium.ts";
import type { Engine, EngineContext } from "./engine.ts";
import { FIREFOX, launchFirefox } from "./firefox.ts";
import { launchWebKit, WEBKIT } from "./webkit.ts";

/** Chromium is first: in `npm test`, all tests of tests/browser run in it. */
const ENGINES = [
  { name: "Chromium", launch: launchChromium, programs: [], debian: "chromium" }, // it says itself what is missing
  { name: "Firefox", launch: launchFirefox, programs: [FIREFOX], debian: "firefox-esr" },
  { name: "WebKit", launch: launchWebKit, programs: Object.values(WEBKIT), debian: "webkit2gtk-driver xvfb" },
] as const;

/** Opens users in the engine of a scenario. */
export type NewContext = Engine["newContext"];

/** A scenario. It runs in `npm run matrix -- engines`. */
type Scenario = (title: string, run: (newContext: NewContext) => Promise<void>) => void;

/** How scenarios are declared. */
export interface Scenarios {
  readonly scenario: Scenario;
  /** Declares a scenario that runs in `npm test` also. */
  readonly essential: Scenario;
}

/**
 * Declares scenarios for each engine. An engine that is not installed is named in the report and on the terminal; where `CI` is
 * set, it fails.
 */
export function describeEngines(declare: (scenarios: Scenarios) => void): void {
  describe.each(IS_MATRIX ? ENGINES : ENGINES.slice(1))("in $name", ({ name, launch, programs, debian }) => {
    const missing = programs.filter((program) => !existsSync(program));
    if (missing.length > 0) return declareAbsence(name, missing, debian);
    let engine: Engine;
    const contexts: EngineContext[] = [];

    beforeAll(async () => {
      engine = await launch();
    });

    afterEach(async () => {
      for (const context of contexts.splice(0)) await context.close();
    });

    afterAll(() => engine?.close());

    const newContext: NewContext = async (options) => {
      const context = await engine.newContext(options);
      contexts.push(context);
      return context;
    };
    const essential: Scenario = (title, run) => it(title, () => run(newContext));
    declare({ essential, scenario: (title, run) => IS_MATRIX && essential(title, run) });
  });
}

function declareAbsence(engine: string, missing: readonly string[], debian: string): void {
  const text = `${engine} is not tested: ${missing.join(", ")} not found. Install it (Debian: apt-get install ${debian})`;
  console.warn(text);
  // Skipped only where a developer has not installed the engine, with the reason as its title: CI installs it, and fails without.
  it.skipIf(process.env.CI === undefined)(text, () => {
    throw new Error(text);
  });
}
