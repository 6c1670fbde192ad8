/**
 * Scenarios in Chromium, Firefox and WebKit: three of each engine in `npm test`, all in `npm run matrix -- engines`.
 */
import { accountsScenarios } from "./accounts.ts";
import { describeEngines } from "./each-engine.ts";
import { pageScenarios } from "./pages.ts";

describeEngines((scenarios) => {
  accountsScenarios(scenarios);
  pageScenarios(scenarios);
});
