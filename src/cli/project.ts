import { existsSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** A mistake in a project or its build, said in full by its message. */
export class BuildError extends Error {
  override get name(): string {
    return "BuildError";
  }
}

/**
 * Finds the module that makes an application: `src/app.ts` (or `.tsx`, `.js`) of its folder.
 *
 * @throws BuildError when there is none
 */
export function findEntry(root: string): string {
  const candidates = ["src/app.ts", "src/app.tsx", "src/app.js"].map((file) => join(root, file));
  const entry = candidates.find((file) => existsSync(file));
  if (entry) return entry;
  throw new BuildError(
    `There is no application in ${root}: no src/app.ts. It is the module that exports new App({…}).`,
  );
}

/** Says that the application's module exports none. */
export function noApplication(file: string): string {
  return `${file} must have the application as its default export: export default new App({…}).`;
}

/** A module that is only ever run on the server. */
export const SERVER_MODULE = /\.server\.[cm]?[jt]sx?$/;

/** A style sheet, in any language that the build tool reads. */
export const STYLE_SHEET = /\.(css|scss|sass|less|styl|stylus|pcss|postcss)$/;

/** Gives a file's name relative to its project, with forward slashes on every system. */
export function fileOf(root: string, file: string): string {
  return relative(root, file).split(sep).join("/");
}

/** Gives the version that a project's package.json says it has; nothing where it says none. */
export function versionOf(root: string): string | undefined {
  const file = join(root, "package.json");
  if (!existsSync(file)) return undefined;
  const { version }: { version?: unknown } = JSON.parse(readFileSync(file, "utf8"));
  return typeof version === "string" ? version : undefined;
}
