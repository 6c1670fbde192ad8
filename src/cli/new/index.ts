import { constants, copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import { BuildError, requireUsablePath } from "../project/index.ts";
import { type NewOptions, newUsage, packageName, parseNewArguments } from "./arguments.ts";
import { deploymentFiles, deploymentName, projectFiles, readTemplate, requireEmpty, writeFiles } from "./files.ts";
import { fileSpecifier, findSource, realPath, type Source } from "./origin.ts";
import {
  detectPackageManager,
  installPackages,
  type PackageManager,
  projectPackageManager,
  translateCommands,
} from "./package-manager.ts";

export { detectPackageManager } from "./package-manager.ts";

/**
 * Creates a project in a folder, installs its packages, and prints the progress and the next steps.
 *
 * @param args the arguments after the command
 * @param command the command as the user writes it, such as `tsweb new`
 * @throws BuildError when the project cannot be created, or its packages cannot be installed. A folder that is not empty
 *   is not changed
 */
export async function createProject(args: readonly string[], command: string): Promise<void> {
  const options = parseNewArguments(args, command, process.env);
  if (options === null) {
    process.stdout.write(newUsage(command));
    return;
  }
  if (options === "deployment") return addDeployment(process.cwd(), command);
  return createIn(options, command);
}

async function createIn({ folder, template, install, deploy }: NewOptions, command: string): Promise<void> {
  const dir = resolve(folder);
  requireUsablePath(dir);
  if (deploy && existsSync(join(dir, "package.json"))) {
    throw new BuildError(
      `${folder} contains a project. Nothing was written. To add the files of a deployment to it, run this in its folder: ` +
        `${command} --deploy`,
    );
  }
  requireEmpty(dir, folder);
  const started = performance.now();
  const manager = detectPackageManager(process.env.npm_config_user_agent);
  const source = findSource();
  const packed = source.file !== null && deploy ? copyInto(dir, source.file) : source.file;
  const tsweb = packed === null ? source.specifier : fileSpecifier(packed, realPath(dir));
  const deployment = deploy ? { deployment: readTemplate("deploy") } : {};
  const files = projectFiles(readTemplate(template), { name: packageName(dir), tsweb, manager, ...deployment });
  writeFiles(dir, files, `The project is unfinished: delete what is in ${dir}, and run tsweb new again.`);
  const path = dir === process.cwd() ? "" : folder;
  const place = path === "" ? "this folder" : path;
  print(`Created ${Object.keys(files).length} files in ${place} from the template ${template}.`);
  if (packed !== null) print(`The project installs tsweb from ${packed}. Keep this file.`);
  if (install) {
    print(`Installing packages with ${manager.name} …`);
    const failure = await installPackages(manager, dir);
    if (failure !== null) throw new BuildError(failedInstallation(failure, { path, manager, source }));
    print(`Ready after ${((performance.now() - started) / 1000).toFixed(1)} s.`);
  }
  process.stdout.write(nextSteps({ path, manager, isInstalled: install }));
  if (deploy) process.stdout.write(`\n${deploymentSteps(packageName(dir))}`);
}

/**
 * Copies the packed file of tsweb into a new project, because the build of an image reads files of the project only.
 *
 * @returns its path there
 */
function copyInto(dir: string, file: string): string {
  const copy = join(realPath(dir), basename(file));
  mkdirSync(dir, { recursive: true });
  copyFileSync(file, copy, constants.COPYFILE_EXCL);
  return copy;
}

const print = (line: string) => process.stdout.write(`${line}\n`);

/**
 * Adds the files of a deployment to a project, and prints what to do next. It changes no file.
 *
 * @param dir the folder of the project
 * @param command the command as the user writes it, such as `tsweb new`
 * @throws BuildError if the folder contains no project, or one of the files; nothing was written then
 */
function addDeployment(dir: string, command: string): void {
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

/** The fields of a package.json that matter here. */
interface Manifest {
  readonly name?: string;
  readonly packageManager?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
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

/** What the instructions for a project depend on. */
interface NextSteps {
  /** The path from the current folder to the project's; `""` when they are the same. */
  readonly path: string;
  readonly manager: PackageManager;
  readonly isInstalled: boolean;
}

/** Returns the instructions for a project that was just created. */
export function nextSteps(steps: NextSteps): string {
  const test = translateCommands("npm test", steps.manager);
  return (
    `\nNext:\n\n${commands(steps)}\n` +
    `${test} runs the tests. README.md lists the other commands, and AGENTS.md the rules of an application.\n`
  );
}

/**
 * Returns the instructions for the files of a deployment.
 *
 * @param name the name of the package
 */
function deploymentSteps(name: string): string {
  return (
    `The files of the deployment are for https://${deploymentName(name)}.example: replace this name by that of your site.\n` +
    "node_modules/tsweb/docs/production.md describes them.\n"
  );
}

/** Returns the error message for packages that could not be installed. */
export function failedInstallation(
  failure: string,
  { path, manager, source }: Omit<NextSteps, "isInstalled"> & { source: Pick<Source, "specifier" | "isGuessed"> },
): string {
  const place = path === "" ? "this folder" : path;
  const hint = source.isGuessed
    ? `\nIf tsweb ${source.specifier} is not in the registry, write the packed file of tsweb into package.json: ` +
      '"tsweb": "file:…/tsweb.tgz".'
    : "";
  return (
    `${failure} The files of the project in ${place} are complete.${hint}\n` +
    `Fix the cause, for example the connection to the registry, and run:\n\n` +
    commands({ path, manager, isInstalled: false })
  );
}

function commands({ path, manager, isInstalled }: NextSteps): string {
  const enter = path === "" ? [] : [`cd ${quote(path)}`];
  const npm = [...(isInstalled ? [] : ["npm install"]), "npm run dev"];
  return [...enter, ...npm.map((command) => translateCommands(command, manager))]
    .map((command) => `  ${command}\n`)
    .join("");
}

/** Quotes a path for a shell, if necessary. */
function quote(path: string): string {
  if (/^[\w./\\~@+-]+$/.test(path)) return path;
  return sep === "\\" ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}
