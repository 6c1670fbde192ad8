import { sep } from "node:path";
import { deploymentName } from "./deployment.ts";
import { type PackageManager, translateCommands } from "./package-manager.ts";
import type { Source } from "./source.ts";

/** What the instructions for a project depend on. */
export interface NextSteps {
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
export function deploymentSteps(name: string): string {
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
