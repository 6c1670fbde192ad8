/**
 * What `tsweb build` prints about the sizes of pages: a table, and a warning for each reason for which they exceed the budget.
 */
import { relativeFile } from "../project/index.ts";
import {
  type BuiltFiles,
  type FileSize,
  formatSize,
  gzipBytes,
  nameOfPage,
  type PageFiles,
  type PageSize,
  sizesOfPages,
} from "./built-files.ts";

export { type BuiltFiles, filesOfPages, readBuiltFiles, readFileSizes } from "./built-files.ts";

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

/** The kinds of files that a budget limits. */
export type BudgetKind = "script" | "style";

/** The kinds of files that a budget can limit. */
export const BUDGET_KINDS: readonly BudgetKind[] = ["script", "style"];

/** The size that an application allows for one kind of files of each page. */
export interface Limit {
  /** After compression with gzip. */
  readonly bytes: number;
  /** Where it is set, such as `package.json:7:30`. */
  readonly location: string;
}

/** The sizes that an application allows for each page. */
export type Budget = Readonly<Partial<Record<BudgetKind, Limit>>>;

/** A page that is larger than the budget. */
interface Excess {
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

const FIXES: Readonly<Record<BudgetKind, string>> = {
  script: "Import less in its views",
  style: "Shorten them, import them only in the modules of pages that need them",
};

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

/** A package, a module or a style sheet, and its share of the size of a page, in bytes after compression with gzip. */
interface Part {
  readonly name: string;
  readonly bytes: number;
}

/** What is needed to divide the size of files among their modules. */
interface PartsContext {
  readonly root: string;
  readonly files: BuiltFiles;
  readonly sizeOf: FileSize;
  /** Returns whether a module belongs to tsweb, wherever tsweb is. */
  readonly isOwnModule: (id: string) => boolean;
}

/** The number of parts that are listed. */
const MAX_PARTS = 3;

function largestParts({ page, kind }: Excess, report: PageReport): Part[] | Promise<Part[]> {
  return kind === "script" ? largestScriptParts(page.files, report) : largestStyleParts(page.files, report);
}

/** Returns the largest packages and modules in the scripts of a page. A script's size is divided by its modules' sizes. */
export async function largestScriptParts({ scripts }: PageFiles, context: PartsContext): Promise<Part[]> {
  const { root, files, sizeOf, isOwnModule } = context;
  const parts: Part[] = [];
  for (const path of scripts) {
    const modules = Object.entries(files.scripts.get(path)?.modules ?? {});
    const sizes = await Promise.all(modules.map(([, code]) => gzipBytes(code)));
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    modules.forEach(([id], index) => {
      const name = packageOf(id) ?? (isOwnModule(id) ? "tsweb" : fileName(id, root));
      parts.push({ name, bytes: (sizeOf(path) * (sizes[index] ?? 0)) / total });
    });
  }
  return largest(parts);
}

/** Returns the largest style sheets of a page. */
export function largestStyleParts({ styles }: PageFiles, { files, sizeOf }: PartsContext): Part[] {
  return largest(styles.map((path) => ({ name: files.styleSources.get(path) ?? path, bytes: sizeOf(path) })));
}

/** Adds up parts with the same name, and returns the largest of them. */
function largest(parts: readonly Part[]): Part[] {
  const byName = new Map<string, number>();
  for (const { name, bytes } of parts) byName.set(name, (byName.get(name) ?? 0) + bytes);
  return [...byName]
    .map(([name, bytes]) => ({ name, bytes }))
    .sort((one, other) => other.bytes - one.bytes)
    .slice(0, MAX_PARTS);
}

/** Returns the package of a module by its innermost folder in `node_modules`. */
function packageOf(id: string): string | undefined {
  return /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id)?.[1]?.replaceAll("\\", "/");
}

/** Modules that start with a null byte are made by the build tool. */
function fileName(id: string, root: string): string {
  return id.startsWith("\0") ? "code of Vite" : relativeFile(root, id.replace(/\?.*$/, ""));
}
