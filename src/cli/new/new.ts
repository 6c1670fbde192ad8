import { constants, copyFileSync, existsSync, mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { BuildError, requireUsablePath } from "../project/index.ts";
import { addDeployment } from "./add-deployment.ts";
import { type NewOptions, newUsage, packageName, parseNewArguments } from "./arguments.ts";
import { projectFiles, requireEmpty, writeFiles } from "./files.ts";
import { deploymentSteps, failedInstallation, nextSteps } from "./messages.ts";
import { fileSpecifier } from "./origin.ts";
import { detectPackageManager, installPackages } from "./package-manager.ts";
import { findSource, realPath } from "./source.ts";
import { readTemplate } from "./templates.ts";

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
