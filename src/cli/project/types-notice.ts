import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the line which says that a command does not check types. `undefined` if the project has no types to check, or
 * the script that runs the command has checked them, such as `"build": "tsc && tsweb build"`.
 *
 * @param env the environment variables; package managers store the script in one of them
 */
export function typesNotice(root: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (!existsSync(join(root, "tsconfig.json"))) return undefined;
  if (/\b(?:tsc|tsgo)\b/.test(env.npm_lifecycle_script ?? "")) return undefined;
  return "Types are not checked. Check them with: npx tsc --noEmit";
}
