/**
 * Returns a question that proposes the valid name which is closest to an invalid one, with a space in front:
 * `" Did you mean board?"`; `""` if no name is close.
 */
export function didYouMean(input: string, names: readonly string[]): string {
  const text = input.toLowerCase();
  const distances = names.map((name) => ({ name, distance: editDistance(text, name.toLowerCase()) }));
  const [best] = distances.sort((one, other) => one.distance - other.distance);
  if (best === undefined || best.distance > Math.max(1, Math.floor(best.name.length / 3))) return "";
  return ` Did you mean ${best.name}?`;
}

/**
 * Returns the number of changed characters between two texts: inserted, removed, replaced, or swapped with the next one
 * (the optimal string alignment distance).
 */
function editDistance(one: string, other: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforePrevious[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[other.length] ?? 0;
}
