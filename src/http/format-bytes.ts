const UNITS = ["kB", "MB", "GB"] as const;

/** Returns a number of bytes as text for users, rounded down: `1 MB` for 1,048,576. */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let unit: string = "bytes";
  for (const larger of UNITS) {
    if (size < 1000) break;
    size /= 1000;
    unit = larger;
  }
  return `${Math.floor(size * 10) / 10} ${unit}`;
}
