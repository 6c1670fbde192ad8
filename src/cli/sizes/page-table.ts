import { formatSize, nameOfPage, type PageSize } from "./page-sizes.ts";

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
