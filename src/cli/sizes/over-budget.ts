import type { Part } from "./largest-parts.ts";
import { formatSize, nameOfPage, type PageSize } from "./page-sizes.ts";

/** The kinds of files that a budget limits. */
export type BudgetKind = "script" | "style";

/** The size that an application allows for one kind of files of each page. */
export interface Limit {
  /** After compression with gzip. */
  readonly bytes: number;
  /** Where it is set, such as `package.json:7:30`. */
  readonly location: string;
}

/** The sizes that an application allows for each page. */
export type Budget = Readonly<Partial<Record<BudgetKind, Limit>>>;

/** The kinds of files that a budget can limit. */
export const BUDGET_KINDS: readonly BudgetKind[] = ["script", "style"];

/** A page that is larger than the budget. */
export interface Excess {
  readonly page: PageSize;
  readonly kind: BudgetKind;
  readonly limit: Limit;
}

/** Returns the pages that are larger than the budget, in the order of the pages. */
export function pagesOverBudget(pages: readonly PageSize[], budget: Budget): Excess[] {
  return pages.flatMap((page) =>
    BUDGET_KINDS.flatMap((kind) => {
      const limit = budget[kind];
      return limit && page[kind] > limit.bytes ? [{ page, kind, limit }] : [];
    }),
  );
}

const FIXES: Readonly<Record<BudgetKind, string>> = {
  script: "Import less in its views",
  style: "Shorten them, import them only in the modules of pages that need them",
};

/** Returns the warning about a page that is larger than the budget, with its largest parts. */
export function budgetWarning({ page, kind, limit }: Excess, largest: readonly Part[]): string {
  const { file, line } = page.files.page;
  const parts = largest.map(({ name, bytes }) => `${name} ${formatSize(bytes)}`).join(", ");
  const what = kind === "script" ? "scripts" : "style sheets";
  return [
    `${file}:${line}: The page ${nameOfPage(page)} loads ${formatSize(page[kind])} of ${what}; the budget is ${formatSize(limit.bytes)}.`,
    `  The largest: ${parts}.`,
    `  ${FIXES[kind]}, or change "${kind}" of "budget" (${limit.location}).`,
  ].join("\n  ");
}
