import { largestScriptParts, largestStyleParts, type Part, type PartsContext } from "./largest-parts.ts";
import { type Budget, budgetWarning, type Excess, groupExcesses, pagesOverBudget } from "./over-budget.ts";
import type { PageFiles } from "./page-files.ts";
import { sizesOfPages } from "./page-sizes.ts";
import { pageTable } from "./page-table.ts";

/** The pages of a build, with the sizes of their files. */
export interface PageReport extends PartsContext {
  readonly pages: readonly PageFiles[];
}

/** Prints the table of pages, and a warning for each reason for which pages are larger than the budget. */
export async function printPages(report: PageReport, budget: Budget): Promise<void> {
  const pages = sizesOfPages(report.pages, report.sizeOf);
  if (pages.length > 0) console.log(`\n${pageTable(pages)}`.trimEnd());
  const excesses = pagesOverBudget(pages, budget).map(async (excess) => ({
    ...excess,
    largest: await largestParts(excess, report),
  }));
  for (const group of groupExcesses(await Promise.all(excesses))) console.warn(`\n  ${budgetWarning(group)}`);
}

function largestParts({ page, kind }: Excess, report: PageReport): Part[] | Promise<Part[]> {
  return kind === "script" ? largestScriptParts(page.files, report) : largestStyleParts(page.files, report);
}
