/** Returns the parts of a list that a page has already, and what it has to receive. @see docs/protocol.md 10.13 */

/**
 * Returns the patch from one value to another one as JSON: ranges of the old list and new rows, in the order of the new list. A row
 * that has changed is new.
 *
 * @param from JSON
 * @param to JSON
 * @returns `null` if a value is no list, if a new row is no object, or if the patch would not be shorter than the value
 */
export function createPatch(from: string, to: string): string | null {
  if (!from.startsWith("[") || !to.startsWith("[")) return null;
  const base = rowsOf(from);
  const places = new Map<string, number>();
  for (const [index, row] of base.entries()) if (!places.has(row)) places.set(row, index);
  const parts: string[] = [];
  let chars = 2;
  let start = 0;
  let end = 0; // the range that is not written yet; none if it is empty
  const add = (part: string) => {
    parts.push(part);
    chars += part.length + 1;
  };
  const endRange = () => {
    if (end > start) add(`[${start},${end}]`);
    start = end = 0;
  };
  for (const row of rowsOf(to)) {
    if (end > start && base[end] === row) {
      end++;
      continue;
    }
    endRange();
    const index = places.get(row);
    if (index !== undefined) {
      start = index;
      end = index + 1;
    } else if (row.startsWith("{")) add(row);
    else return null;
    if (chars >= to.length) return null;
  }
  endRange();
  return chars < to.length ? `[${parts.join()}]` : null;
}

/** Returns the items of a list as JSON, each in the form that `JSON.stringify` gives it. */
function rowsOf(json: string): string[] {
  const rows: readonly unknown[] = JSON.parse(json); // it starts with a bracket
  return rows.map((row) => JSON.stringify(row));
}
