// Figures of several rounds, and the table they are shown in.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** `0.78 (0.75–0.80)`: the median, and between which values the rounds lay. */
export function spread(values, digits = 2) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const shown = (value) => value.toFixed(digits);
  return values.length === 1 ? shown(values[0]) : `${shown(median(values))} (${shown(least)}–${shown(most)})`;
}

/** Writes a Markdown table: the head, then the rows. */
export function table(head, rows) {
  const lines = [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
