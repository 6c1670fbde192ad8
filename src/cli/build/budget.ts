import { BUDGET_KINDS, type Budget, type BudgetKind, type Limit } from "../sizes/index.ts";
import { checkMembers, type PackageValue } from "./package-options.ts";

const EXAMPLE = '"budget": { "script": "20 kB", "style": "10 kB" }';

const BYTES_PER_UNIT: Readonly<Record<string, number>> = { B: 1, kB: 1000 };

/**
 * Reads the budget from the value of `"tsweb"` in package.json.
 *
 * @throws BuildError for an unknown member, or a value that is not a size
 */
export function readBudget(options: PackageValue | undefined): Budget {
  const budget = options?.member("budget");
  if (!budget) return {};
  checkMembers(budget, '"budget"', { names: BUDGET_KINDS, example: EXAMPLE });
  const limits = BUDGET_KINDS.flatMap((kind) => {
    const limit = budget.member(kind);
    return limit ? [[kind, readLimit(limit, kind)] as const] : [];
  });
  return Object.fromEntries(limits);
}

function readLimit(limit: PackageValue, kind: BudgetKind): Limit {
  const { value, location } = limit;
  const bytes = typeof value === "string" ? parseSize(value) : value;
  if (typeof bytes === "number" && Number.isFinite(bytes) && bytes >= 0) return { bytes, location };
  throw limit.error(
    `"${kind}" of "budget" is ${JSON.stringify(value)}, which is not a size. Write a number with the unit kB (1000 bytes) or B, ` +
      'such as "20 kB", or a number of bytes.',
  );
}

function parseSize(text: string): number | undefined {
  const { number = "", unit = "" } = /^(?<number>\d+(?:\.\d+)?) ?(?<unit>k?B)$/.exec(text)?.groups ?? {};
  const factor = BYTES_PER_UNIT[unit];
  return factor === undefined ? undefined : Number(number) * factor;
}
