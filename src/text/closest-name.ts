/**
 * Returns the candidate that a name probably means: the one with the fewest changed letters, at most one in three.
 * `undefined` if none is that close.
 *
 * @param maxDistance how many letters may differ even in a long name
 */
export function closestName(
  name: string,
  candidates: Iterable<string>,
  maxDistance = Number.POSITIVE_INFINITY,
): string | undefined {
  const limit = Math.min(maxDistance, Math.max(1, name.length / 3));
  let closest: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit && distance < (closest?.distance ?? Infinity)) {
      closest = { candidate, distance };
    }
  }
  return closest?.candidate;
}

/** Returns how many letters to insert, delete, replace or swap with the next one, to change one text into the other. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        cell(last, column) + 1,
        cell(current, column - 1) + 1,
        cell(last, column - 1) + (isSame ? 0 : 1),
        isSwapped ? cell(beforeLast, column - 2) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return cell(last, other.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
