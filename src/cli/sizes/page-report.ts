import type { PageFiles } from "./built-files.ts";
import { largestScriptParts, largestStyleParts, type Part, type PartsContext } from "./largest-parts.ts";
import { type Budget, budgetWarning, type Excess, groupExcesses, pagesOverBudget } from "./over-budget.ts";
import { formatSize, nameOfPage, type PageSize, sizesOfPages } from "./page-sizes.ts";

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

/** The number of pages that are listed. An application may have hundreds; the largest are first. */
const MAX_ROWS = 30;

/** Returns the table of pages that `tsweb build` prints; an empty string without pages. */
export function pageTable(pages: readonly PageSize[]): string {
  if (pages.length === 0) return "";
  const hasLater = pages.some(({ later }) => later > 0);
  const columns = ({ script, style, later }: PageSize) => [script, style, ...(hasLater ? [later] : [])].map(showSize);
  const rows = [
    ["Page", "Script", "Style", ...(hasLater ? ["On demand"] : [])],
    ...pages.slice(0, MAX_ROWS).map((page) => [nameOfPage(page), ...columns(page)]),
  ];
  const more = pages.length > MAX_ROWS ? [`and ${pages.length - MAX_ROWS} smaller pages`] : [];
  return ["What browsers load at most, with gzip:", ...align(rows), ...more].map((line) => `  ${line}\n`).join("");
}

function showSize(bytes: number): string {
  return bytes === 0 ? "–" : formatSize(bytes);
}

/** Aligns the first column to the left, and the others, which have numbers, to the right. */
function align(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("   "),
  );
}
