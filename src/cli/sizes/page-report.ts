import { largestScriptParts, largestStyleParts, type PartsContext } from "./largest-parts.ts";
import { type Budget, budgetWarning, pagesOverBudget } from "./over-budget.ts";
import type { PageFiles } from "./page-files.ts";
import { sizesOfPages } from "./page-sizes.ts";
import { pageTable } from "./page-table.ts";

/** The pages of a build, with the sizes of their files. */
export interface PageReport extends PartsContext {
  readonly pages: readonly PageFiles[];
}

/** Prints the table of pages, and a warning for each that is larger than the budget. */
export async function printPages(report: PageReport, budget: Budget): Promise<void> {
  const pages = sizesOfPages(report.pages, report.sizeOf);
  if (pages.length > 0) console.log(`\n${pageTable(pages)}`.trimEnd());
  for (const excess of pagesOverBudget(pages, budget)) {
    const { files } = excess.page;
    const largest =
      excess.kind === "script" ? await largestScriptParts(files, report) : largestStyleParts(files, report);
    console.warn(`\n  ${budgetWarning(excess, largest)}`);
  }
}
