import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { builtFolder } from "./build-info.ts";

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

/**
 * Returns the absolute path of a file or folder of the project that the built application needs too, such as migrations
 * or templates. In development, tests and scripts it is below the current folder; in a built application it is below `dist/`,
 * into which `tsweb build` copies what `include` in package.json names.
 *
 * @param path relative to the project's folder, with forward slashes
 * @throws TypeError for a path that is not below the project's folder
 * @throws Error if there is no such file or folder
 * @example migrate(database, { migrationsFolder: project_path("drizzle") });
 */
export function project_path(path: string): string {
  if (typeof path !== "string" || !isBelow(path)) {
    throw new TypeError(
      `project_path() received ${JSON.stringify(path)}. Pass a path relative to the project's folder, such as "drizzle".`,
    );
  }
  const absolute = join(builtFolder ?? process.cwd(), path);
  if (existsSync(absolute)) return absolute;
  const fix = builtFolder
    ? `Add it to "tsweb": { "include": [${JSON.stringify(path)}] } in package.json, and build again`
    : "Create it, or run this command in the project's folder";
  throw new Error(`project_path(${JSON.stringify(path)}): ${absolute} does not exist. ${fix}.`);
}

function isBelow(path: string): boolean {
  if (path === "" || /^(?:[/\\]|[a-z]:)/i.test(path) || path.includes("\0") || path.includes("\\")) return false;
  return posix.normalize(path).split("/")[0] !== "..";
}
