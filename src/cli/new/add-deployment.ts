import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BuildError } from "../project/index.ts";
import { packageName } from "./arguments.ts";
import { deploymentFiles } from "./deployment.ts";
import { writeFiles } from "./files.ts";
import { deploymentSteps } from "./messages.ts";
import { projectPackageManager } from "./package-manager.ts";
import { readTemplate } from "./templates.ts";

/** The fields of a package.json that matter here. */
interface Manifest {
  readonly name?: string;
  readonly packageManager?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Adds the files of a deployment to a project, and prints what to do next. It changes no file.
 *
 * @param dir the folder of the project
 * @param command the command as the user writes it, such as `tsweb new`
 * @throws BuildError if the folder contains no project, or one of the files; nothing was written then
 */
export function addDeployment(dir: string, command: string): void {
  const manifest = readManifest(dir, command);
  const manager = projectPackageManager(dir, manifest.packageManager, process.env.npm_config_user_agent);
  const { "package.json": needed = "{}", ...template } = readTemplate("deploy");
  const name = manifest.name ?? packageName(dir);
  const files = deploymentFiles(template, { name, manager });
  const existing = Object.keys(files).filter((file) => existsSync(join(dir, file)));
  if (existing.length > 0) {
    throw new BuildError(
      `This folder contains ${existing.join(", ")} already. Nothing was written. Rename or delete ` +
        `${existing.length > 1 ? "these files" : "this file"}, and run the command again.`,
    );
  }
  writeFiles(dir, files, "The files before it were written. Fix the cause, delete them, and run the command again.");
  const written = Object.keys(files).map((file) => `  ${file}\n`);
  const add = `${manager.name} ${manager.name === "npm" ? "install" : "add"}`;
  const missing = missingPackages(manifest, JSON.parse(needed));
  const notes = missing.map((each) => `Install ${each}, which the files need: ${add} ${each}\n`);
  process.stdout.write(
    `Added ${written.length} files to ${name}:\n\n${written.join("")}\n${notes.join("")}${packedFileNote(manifest)}${deploymentSteps(name)}`,
  );
}

/** @throws BuildError if the folder contains no project */
function readManifest(dir: string, command: string): Manifest {
  const file = join(dir, "package.json");
  if (!existsSync(file)) {
    throw new BuildError(
      `${dir} contains no package.json, so --deploy cannot add files to its project. Run the command in the folder of a ` +
        `project, or name a folder to create: ${command} shop --deploy`,
    );
  }
  try {
    return JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new BuildError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Returns the names of the packages that the files need and the project does not have. */
function missingPackages({ dependencies = {} }: Manifest, needed: Manifest): readonly string[] {
  return Object.keys(needed.dependencies ?? {}).filter((name) => dependencies[name] === undefined);
}

/** Returns a note if tsweb comes from a file outside of the project, which the build of an image cannot read. */
function packedFileNote({ dependencies = {} }: Manifest): string {
  const [, file] = /^(?:file:)?((?:\.\.\/|\/).+)$/.exec(dependencies.tsweb ?? "") ?? [];
  if (file === undefined) return "";
  return (
    `package.json installs tsweb from ${file}, which docker build cannot read. Copy this file into the project, write ` +
    '"tsweb": "file:<its name>" into package.json, and install the packages.\n'
  );
}
