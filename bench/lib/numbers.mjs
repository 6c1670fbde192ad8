// Statistics of several rounds, and Markdown tables.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Returns the value below which a part of the values is, by the nearest rank. */
export function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)];
}

/** Returns the slope of the line through values at equal distances of 1, by least squares. */
export function slope(values) {
  const center = (values.length - 1) / 2;
  const sums = values.map((value, i) => [(i - center) * value, (i - center) ** 2]);
  return sums.reduce((sum, [product]) => sum + product, 0) / sums.reduce((sum, [, square]) => sum + square, 0);
}

/** Formats the median with minimum and maximum: `0.78 (0.75–0.80)`, `1,329 (1,028–1,630)`. */
export function spread(values, digits = 2) {
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const format = (value) => value.toLocaleString("en", fraction);
  return values.length === 1 ? format(values[0]) : `${format(median(values))} (${format(min)}–${format(max)})`;
}

/** Formats a Markdown table. */
export function table(head, rows) {
  const lines = [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
