/** The sizes of pages that `tsweb build` prints, and the budget that it compares them with. */
export { type BuiltFiles, filesOfPages, readBuiltFiles, readFileSizes } from "./built-files.ts";
export { BUDGET_KINDS, type Budget, type BudgetKind, type Limit, type PageReport, printPages } from "./page-report.ts";
