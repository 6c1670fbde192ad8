import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BuildError } from "../project/index.ts";
import { deploymentFiles } from "./deployment.ts";
import { isModernYarn, type PackageManager, translateCommands } from "./package-manager.ts";
import type { Files } from "./templates.ts";

/** The templates' placeholder for the name of the application. */
const PLACEHOLDER = /\bmy-app\b/g;

/** A folder with only these entries counts as empty: a repository that was just created or cloned. */
const IGNORED: ReadonlySet<string> = new Set([".git"]);

/** What is different in each project. */
export interface ProjectOptions {
  /** The name of the package. */
  readonly name: string;
  /** The specifier of tsweb for package.json. */
  readonly tsweb: string;
  /** The package manager that the project is used with. */
  readonly manager: PackageManager;
  /** The template of a deployment, if the project contains its files. */
  readonly deployment?: Files;
}

/** Returns the files of a new project. */
export function projectFiles(template: Files, { name, tsweb, manager, deployment = {} }: ProjectOptions): Files {
  const { "package.json": manifest = "{}", ...rest } = template;
  const { "package.json": added = "{}", ...deployed } = deployment;
  const project = JSON.parse(manifest);
  const files = Object.entries(rest).map(([file, text]) => {
    const named = text.replace(PLACEHOLDER, name);
    return [file, file.endsWith(".md") ? translateCommands(named, manager) : named] as const;
  });
  const packageJson = {
    ...project,
    name,
    ...(isModernYarn(manager) && { packageManager: `yarn@${manager.version}` }),
    dependencies: { ...project.dependencies, ...JSON.parse(added).dependencies, tsweb },
  };
  return {
    ...forYarn(Object.fromEntries(files), manager),
    ...deploymentFiles(deployed, { name, manager }),
    // The last one, so that nothing can be installed or run in an unfinished folder.
    "package.json": `${JSON.stringify(packageJson, null, 2)}\n`,
  };
}

/**
 * Adds the files of Yarn 2 and later. Plug'n'Play is not used, because TypeScript 7 cannot resolve packages with it.
 * Without a yarn.lock, Yarn would take the project for a part of a project above it.
 */
function forYarn(files: Files, manager: PackageManager): Files {
  if (!isModernYarn(manager)) return files;
  return {
    ...files,
    ".gitignore": `${files[".gitignore"] ?? ""}.yarn/\n`,
    ".yarnrc.yml": "nodeLinker: node-modules\n",
    "yarn.lock": "",
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
 * @param advice what to do with the files that were written, if another one cannot be
 * @throws BuildError that names the file that could not be written, and what is left behind
 */
export function writeFiles(dir: string, files: Files, advice: string): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(dir, name);
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { flag: "wx" });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new BuildError(`${file} could not be written: ${reason}\n${advice}`);
    }
  }
}
