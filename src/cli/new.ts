import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { packageName, requireFolderName } from "./new-name.ts";
import { BuildError, versionOf } from "./project.ts";

/** The texts of files, by their names with forward slashes. */
export type Files = Readonly<Record<string, string>>;

/** What stands in the template wherever an application has its own name. */
const PLACEHOLDER = /\bmy-app\b/g;

/** What may be in a folder that counts as empty: that of a repository which was just made or cloned. */
const UNNOTICED: ReadonlySet<string> = new Set([".git"]);

/**
 * Makes an application in a folder, and says what to do next.
 *
 * @param where the folder, as it was written at the command line
 * @throws BuildError when it cannot be made there; of a folder that is not empty nothing is touched
 */
export function printNew(where: string): void {
  requireFolderName(where);
  const dir = resolve(where);
  requireEmpty(dir, where);
  const files = applicationOf(template(), { name: packageName(dir), version: ownVersion() });
  writeAll(dir, files);
  process.stdout.write(nextSteps(dir === process.cwd() ? "" : where));
}

/**
 * Makes an application's files of the template's.
 *
 * @param version that of tsweb, which it asks for: this one, or a later one that is compatible
 */
export function applicationOf(template: Files, { name, version }: { name: string; version: string }): Files {
  const { "package.json": manifest = "{}", ...rest } = template;
  const project = JSON.parse(manifest);
  const dependencies = { ...project.dependencies, tsweb: `^${version}` };
  const files = Object.entries(rest).map(([file, text]) => [file, text.replace(PLACEHOLDER, name)]);
  return {
    ...Object.fromEntries(files),
    // The last: a folder that was left unfinished has none, and nothing installs or runs in it.
    "package.json": `${JSON.stringify({ ...project, name, dependencies }, null, 2)}\n`,
  };
}

/**
 * Refuses a folder that has something in it.
 *
 * @param where the folder, as the message names it
 * @throws BuildError
 */
export function requireEmpty(dir: string, where: string): void {
  const found = entriesOf(dir, where).filter((name) => !UNNOTICED.has(name));
  if (found.length === 0) return;
  const [first, more] = [found.slice(0, 3).join(", "), found.length - 3];
  throw new BuildError(
    `${where} is not empty: it holds ${first}${more > 0 ? ` and ${more} more` : ""}. Nothing was written. ` +
      "Name another folder, or empty that one.",
  );
}

/** Lists a folder; one that is not there is empty. */
function entriesOf(dir: string, where: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // what node:fs throws
    if (code === "ENOENT") return [];
    if (code === "ENOTDIR") throw new BuildError(`${where} is a file, or lies in one. Name another folder.`);
    throw new BuildError(`${where} could not be read: ${message}`);
  }
}

/**
 * Writes files into a folder, and overwrites none.
 *
 * @throws BuildError that names the file which could not be written, and says what is left
 */
export function writeAll(dir: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(dir, name);
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { flag: "wx" });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new BuildError(
        `${file} could not be written: ${reason}\n` +
          `The application is unfinished: remove what is in ${dir}, and run tsweb new again.`,
      );
    }
  }
}

/**
 * Says what to do in an application that was just made.
 *
 * @param path its folder, from the one that the commands are typed in; `""` where that is the same
 */
export function nextSteps(path: string): string {
  const enter = path === "" ? [] : [`cd ${quoted(path)}`];
  const commands = [...enter, "npm install", "npm run dev"];
  const lines = commands.map((command) => `  ${command}\n`).join("");
  return `${path === "" ? "This folder" : path} holds an application now. Next:\n\n${lines}\nIts README.md has the other commands.\n`;
}

/** Writes a path as a shell takes it. */
function quoted(path: string): string {
  if (/^[\w./\\~@+-]+$/.test(path)) return path;
  return sep === "\\" ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Reads the template, which the build of this package has put into one file beside this one. */
function template(): Files {
  return JSON.parse(readFileSync(new URL("./template.json", import.meta.url), "utf8"));
}

function ownVersion(): string {
  const version = versionOf(fileURLToPath(new URL("../..", import.meta.url)));
  if (version === undefined) throw new Error("The package.json of tsweb has no version.");
  return version;
}
