/**
 * Scenarios in Firefox and WebKit: three of each engine in `npm test`; all, and in Chromium too, in `npm run matrix -- engines`.
 */
import { IS_MATRIX } from "#test/matrix";
import { accountsScenarios, useAccounts } from "./accounts.ts";
import { describeEngines } from "./each-engine.ts";
import { exampleScenarios } from "./examples.ts";
import { laterScenarios, useLaterPages } from "./later.ts";
import { navigationScenarios } from "./navigation.ts";
import { pageScenarios, usePages } from "./pages.ts";

useAccounts();
usePages();
useLaterPages();

describeEngines((scenarios) => {
  accountsScenarios(scenarios);
  pageScenarios(scenarios);
  laterScenarios(scenarios);
  if (!IS_MATRIX) return;
  navigationScenarios(scenarios);
  exampleScenarios(scenarios);
});
