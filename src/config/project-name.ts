import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Returns the `name` of the nearest package.json: that of a folder, or of a folder above it. Returns `undefined` if
 * there is none, or if it has no name.
 */
export function projectName(folder: string): string | undefined {
  const file = join(folder, "package.json");
  if (existsSync(file)) return nameIn(readFileSync(file, "utf8"));
  const parent = dirname(folder);
  return parent === folder ? undefined : projectName(parent);
}

function nameIn(text: string): string | undefined {
  try {
    const content: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    const isNamed = typeof content === "object" && content !== null && "name" in content;
    return isNamed && typeof content.name === "string" ? content.name : undefined;
  } catch {
    return undefined; // npm and Vite report a file that is not JSON
  }
}
