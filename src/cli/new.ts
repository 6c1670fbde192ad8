import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { checkFolderName, packageName } from "./new-name.ts";
import { BuildError, projectInfo } from "./project.ts";

/** The texts of files, by their names with forward slashes. */
export type Files = Readonly<Record<string, string>>;

/** The template's placeholder for the name of the application. */
const PLACEHOLDER = /\bmy-app\b/g;

/** A folder with only these entries counts as empty: a repository that was just created or cloned. */
const IGNORED: ReadonlySet<string> = new Set([".git"]);

/**
 * Creates a project in a folder, and prints the next steps.
 *
 * @param folder as written on the command line
 * @throws BuildError when the project cannot be created there. A folder that is not empty is not changed
 */
export function createProject(folder: string): void {
  checkFolderName(folder);
  const dir = resolve(folder);
  requireEmpty(dir, folder);
  writeFiles(dir, projectFiles(readTemplate(), { name: packageName(dir), version: ownVersion() }));
  process.stdout.write(nextSteps(dir === process.cwd() ? "" : folder));
}

/**
 * Returns the files of a new project.
 *
 * @param version the version of tsweb: the project depends on it or a later compatible one
 */
export function projectFiles(template: Files, { name, version }: { name: string; version: string }): Files {
  const { "package.json": manifest = "{}", ...rest } = template;
  const project = JSON.parse(manifest);
  const dependencies = { ...project.dependencies, tsweb: `^${version}` };
  const files = Object.entries(rest).map(([file, text]) => [file, text.replace(PLACEHOLDER, name)]);
  return {
    ...Object.fromEntries(files),
    // The last one, so that nothing can be installed or run in an unfinished folder.
    "package.json": `${JSON.stringify({ ...project, name, dependencies }, null, 2)}\n`,
  };
}

/**
 * Rejects a folder that has entries.
 *
 * @param folder the folder as the message names it
 * @throws BuildError
 */
export function requireEmpty(dir: string, folder: string): void {
  const entries = entriesOf(dir, folder).filter((name) => !IGNORED.has(name));
  if (entries.length === 0) return;
  const [first, more] = [entries.slice(0, 3).join(", "), entries.length - 3];
  throw new BuildError(
    `${folder} is not empty: it contains ${first}${more > 0 ? ` and ${more} more` : ""}. Nothing was written. ` +
      "Choose another folder, or empty this one.",
  );
}

/** Returns the entries of a folder; none when it does not exist. */
function entriesOf(dir: string, folder: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // node:fs throws nothing else
    if (code === "ENOENT") return [];
    if (code === "ENOTDIR") throw new BuildError(`${folder} is a file, or is inside one. Choose another folder.`);
    throw new BuildError(`${folder} could not be read: ${message}`);
  }
}

/**
 * Writes files into a folder. It overwrites none.
 *
 * @throws BuildError that names the file that could not be written, and what is left behind
 */
export function writeFiles(dir: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(dir, name);
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { flag: "wx" });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new BuildError(
        `${file} could not be written: ${reason}\n` +
          `The project is unfinished: delete what is in ${dir}, and run tsweb new again.`,
      );
    }
  }
}

/**
 * Returns the instructions for a project that was just created.
 *
 * @param path the path from the current folder to the project's; `""` when they are the same
 */
export function nextSteps(path: string): string {
  const enter = path === "" ? [] : [`cd ${quote(path)}`];
  const commands = [...enter, "npm install", "npm run dev"];
  const lines = commands.map((command) => `  ${command}\n`).join("");
  return `Created a project in ${path === "" ? "this folder" : path}. Next:\n\n${lines}\nIts README.md lists the other commands.\n`;
}

/** Quotes a path for a shell, if necessary. */
function quote(path: string): string {
  if (/^[\w./\\~@+-]+$/.test(path)) return path;
  return sep === "\\" ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Reads the template, which `scripts/build.mjs` has written into one file beside this one. */
function readTemplate(): Files {
  return JSON.parse(readFileSync(new URL("./template.json", import.meta.url), "utf8"));
}

function ownVersion(): string {
  const { version } = projectInfo(fileURLToPath(new URL("../..", import.meta.url)));
  if (version === undefined) throw new Error("The package.json of tsweb has no version.");
  return version;
}
