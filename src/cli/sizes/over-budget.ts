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

/** A page that is larger than the budget, with its largest parts. */
export interface ExplainedExcess extends Excess {
  readonly largest: readonly Part[];
}

/**
 * Combines pages that are larger than the budget for the same reason: they load the same files, or one package, module or style
 * sheet alone is larger than the budget. Each group has the largest page first.
 *
 * @param excesses the pages, the largest first
 */
export function groupExcesses(excesses: readonly ExplainedExcess[]): ExplainedExcess[][] {
  const groups = new Map<string, ExplainedExcess[]>();
  for (const excess of excesses) {
    const { page, kind, limit, largest } = excess;
    const [part] = largest;
    const files = kind === "script" ? page.files.scripts : page.files.styles;
    const reason = part && part.bytes > limit.bytes ? [part.name] : files.toSorted();
    const key = JSON.stringify([kind, ...reason]);
    groups.set(key, [...(groups.get(key) ?? []), excess]);
  }
  return [...groups.values()];
}

/** The number of further pages that a warning names. */
const MAX_NAMED = 3;

/** Returns the warning about pages that are larger than the budget for the same reason, with the largest parts of the first. */
export function budgetWarning([first, ...others]: readonly ExplainedExcess[]): string {
  if (!first) return "";
  const { page, kind, limit, largest } = first;
  const { file, line } = page.files.page;
  const parts = largest.map(({ name, bytes }) => `${name} ${formatSize(bytes)}`).join(", ");
  const what = kind === "script" ? "scripts" : "style sheets";
  const named = others.slice(0, MAX_NAMED).map((other) => nameOfPage(other.page));
  const more = others.length > MAX_NAMED ? [`${others.length - MAX_NAMED} more`] : [];
  return [
    `${file}:${line}: The page ${nameOfPage(page)} loads ${formatSize(page[kind])} of ${what}; the budget is ${formatSize(limit.bytes)}.`,
    `  The largest: ${parts}.`,
    ...(others.length > 0 ? [`  Also above the budget for this reason: ${[...named, ...more].join(", ")}.`] : []),
    `  ${FIXES[kind]}, or change "${kind}" of "budget" (${limit.location}).`,
  ].join("\n  ");
}
