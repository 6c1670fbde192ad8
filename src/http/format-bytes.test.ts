import { expect, it } from "vitest";
import { formatBytes } from "./format-bytes.ts";

it.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1000, "1 kB"],
  [1024 * 1024, "1 MB"],
  [5_000_000, "5 MB"],
  [1_990_000, "1.9 MB"],
  [20_000_000_000, "20 GB"],
  [20_000_000_000_000, "20000 GB"],
])("%d bytes are shown to users as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
