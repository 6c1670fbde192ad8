import { resolve } from "node:path";
import { BuildError, requireUsablePath } from "../project/index.ts";
import { newUsage, parseNewArguments } from "./arguments.ts";
import { projectFiles, requireEmpty, writeFiles } from "./files.ts";
import { installPackages } from "./install.ts";
import { failedInstallation, nextSteps } from "./messages.ts";
import { packageName } from "./name.ts";
import { fileSpecifier } from "./origin.ts";
import { detectPackageManager } from "./package-manager.ts";
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
  const { folder, template, install } = options;
  const dir = resolve(folder);
  requireUsablePath(dir);
  requireEmpty(dir, folder);
  const started = performance.now();
  const manager = detectPackageManager(process.env.npm_config_user_agent);
  const source = findSource();
  const tsweb = source.file === null ? source.specifier : fileSpecifier(source.file, realPath(dir));
  const files = projectFiles(readTemplate(template), { name: packageName(dir), tsweb, manager });
  writeFiles(dir, files);
  const path = dir === process.cwd() ? "" : folder;
  const place = path === "" ? "this folder" : path;
  print(`Created ${Object.keys(files).length} files in ${place} from the template ${template}.`);
  if (source.file !== null) print(`The project installs tsweb from ${source.file}. Keep this file.`);
  if (install) {
    print(`Installing packages with ${manager.name} …`);
    const failure = await installPackages(manager, dir);
    if (failure !== null) throw new BuildError(failedInstallation(failure, { path, manager, source }));
    print(`Ready after ${((performance.now() - started) / 1000).toFixed(1)} s.`);
  }
  process.stdout.write(nextSteps({ path, manager, isInstalled: install }));
}

const print = (line: string) => process.stdout.write(`${line}\n`);
