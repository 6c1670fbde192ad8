/**
 * The rules of the compile step: mistakes that it finds in a module and reports, each with how to fix it. A rule is a
 * function in a file of this folder, with its test, and a line of the table. The code that compiles modules knows no rule.
 */
import type { ModuleFacts, ModuleResolver } from "../modules/index.ts";
import { checkAppCalls, checkAppOptions } from "./app.ts";
import { checkQueryEffects, checkRenderEffects, timerWarnings } from "./effects.ts";
import { checkEntryPoints } from "./entry-points.ts";
import { checkEnvironmentVariables } from "./environment-variables.ts";
import { checkEventHandlers } from "./event-handlers.ts";
import { checkFetchBodies } from "./fetch-bodies.ts";
import { checkFieldNames, checkFormActions } from "./forms.ts";
import { checkMiddlewareParameters, checkPageParameters, checkRouteRequests } from "./handler-parameters.ts";
import { checkImportedNames } from "./imports.ts";
import { checkMarkup } from "./jsx-checks.ts";
import { checkLayouts } from "./layout-children.ts";
import { checkLostAssignments } from "./lost-assignments.ts";
import { checkLowercaseComponents } from "./lowercase-components.ts";
import { checkApplicationModules, checkListed } from "./module-list.ts";
import {
  checkDroppedValues,
  checkReExportedValues,
  checkUncalledFunctions,
  mayContainUncalledFunction,
  mayDropValues,
} from "./no-effect.ts";
import { checkNodeImports, checkServerGlobals } from "./node-apis.ts";
import { checkForeignConventions, checkForeignImports, checkStubMembers } from "./other-frameworks.ts";
import { checkPropNames, checkViewProps } from "./props.ts";
import { checkRequestMembers } from "./request-members.ts";
import { checkReturnedStreams } from "./returned-streams.ts";
import type { Rule, ViteRuleResolver } from "./rule.ts";
import { checkSecretLiterals } from "./secret-literals.ts";
import { checkSilentMarkup, markupWarnings } from "./silent-markup.ts";
import { checkStyleSheetImports, cssModuleWarnings } from "./style-sheets.ts";
import { checkThenExport, mayExportThen } from "./then-export.ts";
import { timeLimitWarnings } from "./time-limits.ts";
import { checkAsyncViews, checkInteractiveComponents, checkViewCalls } from "./views.ts";

export { serverNameMessage } from "./entry-points.ts";
export { missingExportError, missingImportError, missingImportMessage } from "./imports.ts";
export { isNodeModule, nodeBuiltinMessage } from "./node-apis.ts";
export { checkPreactCopies, packageFolder, readPackageJson, rejectReact } from "./react-packages.ts";
export type { DefinedGlobals, ExposedVariables, PackageResolver, ViteRuleResolver } from "./rule.ts";

/** All rules. The first one that finds a mistake reports it: a rule that says more about a mistake is before one that says less. */
export const RULES: readonly Rule[] = [
  { name: "entry-points", side: "both", check: checkEntryPoints },
  { name: "no-effect: dropped values", side: "both", check: checkDroppedValues, mayConcern: mayDropValues },
  {
    name: "no-effect: uncalled functions",
    side: "both",
    check: checkUncalledFunctions,
    mayConcern: mayContainUncalledFunction,
  },
  { name: "request-members", side: "both", check: checkRequestMembers },
  { name: "fetch-bodies", side: "both", check: checkFetchBodies },
  { name: "handler-parameters: server functions", side: "both", check: checkMiddlewareParameters },
  { name: "declarations", side: "both", check: checkDeclarations },
  { name: "effects: queries", side: "server", check: checkQueryEffects },
  { name: "lost-assignments", side: "both", check: checkLostAssignments },
  { name: "handler-parameters: routes", side: "both", check: checkRouteRequests },
  { name: "views: async", side: "both", check: checkAsyncViews },
  { name: "handler-parameters: pages", side: "both", check: checkPageParameters },
  { name: "other-frameworks: conventions", side: "both", needs: "vite", check: checkForeignConventions },
  { name: "other-frameworks: imports", side: "both", needs: "vite", check: checkForeignImports },
  { name: "node-apis: globals", side: "browser code", needs: "vite", check: checkServerGlobals },
  { name: "secret-literals", side: "browser code", needs: "vite", check: checkSecretLiterals },
  { name: "node-apis: imports", side: "browser code", needs: "vite", check: checkNodeImports },
  { name: "environment-variables", side: "both", needs: "vite", notInTests: true, warn: checkEnvironmentVariables },
  { name: "browser-imports", side: "browser", needs: "vite", check: checkBrowserImports },
  { name: "then-export", side: "both", check: checkThenExport, mayConcern: mayExportThen },
  { name: "style-sheets: imports", side: "both", needs: "project", check: checkStyleSheetImports },
  { name: "imports", side: "both", needs: "project", check: checkImportedNames },
  { name: "props: functions", side: "server", needs: "project", check: checkViewProps },
  { name: "props: names", side: "server", needs: "project", check: checkPropNames },
  { name: "views: calls", side: "server", needs: "project", check: checkViewCalls },
  { name: "other-frameworks: methods", side: "both", needs: "project", check: checkStubMembers },
  { name: "jsx-checks", side: "both", needs: "project", check: checkMarkup },
  { name: "forms: field names", side: "browser code", check: checkFieldNames },
  { name: "silent-markup", side: "both", check: checkSilentMarkup },
  { name: "lowercase-components", side: "both", needs: "project", check: checkLowercaseComponents },
  { name: "effects: rendering", side: "both", needs: "project", check: checkRenderEffects },
  { name: "views: undeclared", side: "server", needs: "project", check: checkInteractiveComponents },
  { name: "returned-streams", side: "server", needs: "project", check: checkReturnedStreams },
  { name: "no-effect: re-exported values", side: "server", needs: "project", check: checkReExportedValues },
  { name: "forms: actions", side: "both", needs: "vite", check: checkFormActions },
  { name: "event-handlers", side: "both", needs: "vite", check: checkEventHandlers },
  { name: "silent-markup: texts", side: "both", needs: "vite", notInTests: true, warn: markupWarnings },
  { name: "time-limits", side: "both", needs: "vite", notInTests: true, warn: timeLimitWarnings },
  { name: "effects: intervals", side: "both", needs: "vite", notInTests: true, warn: timerWarnings },
  { name: "style-sheets: class names", side: "both", needs: "vite", notInTests: true, warn: cssModuleWarnings },
  { name: "app: calls", side: "application", needs: "vite", check: checkAppCalls },
  { name: "app: options", side: "application", needs: "vite", check: checkAppOptions },
  { name: "module-list", side: "application", needs: "vite", warn: checkApplicationModules },
  { name: "layout-children", side: "server", needs: "vite", warn: checkLayouts },
  { name: "listed-modules", side: "other server modules", needs: "vite", warn: checkListed },
];

/** Rejects a declaration that the compile step cannot read. */
function checkDeclarations({ mistakes: [first] }: ModuleFacts): void {
  if (first) throw first;
}

/** Rejects imports that browser code cannot have, which the compile step finds when it reads them. */
async function checkBrowserImports(_facts: ModuleFacts, resolver: ViteRuleResolver): Promise<void> {
  await resolver.readImports();
}

/** Returns whether a module without declarations may break a rule, without parsing it. Errs towards yes. */
export function mayBreakRule(code: string): boolean {
  return RULES.some(({ mayConcern }) => mayConcern?.(code));
}

/**
 * Checks a module by the rules that need no other one.
 *
 * @throws CompileError at the first mistake
 */
export function checkModuleAlone(facts: ModuleFacts): void {
  for (const rule of RULES) if (!rule.needs && isFor(rule, facts, { side: "server" })) rule.check(facts);
}

/**
 * Checks a module that Node runs, by the rules that need no bundler.
 *
 * @throws CompileError at the first mistake
 */
export async function checkModule(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  for (const rule of RULES) {
    if (rule.needs !== "vite" && isFor(rule, facts, { side: "server" })) await rule.check(facts, resolver);
  }
}

/**
 * Checks a module that Vite compiles, by all rules.
 *
 * @returns warnings
 * @throws CompileError at the first mistake
 */
export async function checkViteModule(facts: ModuleFacts, resolver: ViteRuleResolver): Promise<string[]> {
  const warnings: string[] = [];
  for (const rule of RULES) {
    if (!isFor(rule, facts, resolver)) continue;
    if ("check" in rule) await rule.check(facts, resolver);
    else if (!(rule.notInTests && resolver.isTest)) warnings.push(...(await rule.warn(facts, resolver)));
  }
  return warnings;
}

/** Returns whether a rule is for a module, as it is compiled. */
function isFor(
  rule: Rule,
  { views, isServerModule }: ModuleFacts,
  { side, isApplication = false }: Pick<ViteRuleResolver, "side"> & Partial<ViteRuleResolver>,
): boolean {
  switch (rule.side) {
    case "both":
      return true;
    case "server":
    case "browser":
      return side === rule.side;
    case "browser code":
      return side === "browser" || views.length > 0;
    case "application":
      return side === "server" && isApplication;
    case "other server modules":
      return side === "server" && isServerModule && !isApplication;
  }
}
