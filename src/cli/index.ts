import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { closestName } from "../text/index.ts";
import { BuildError, exitAfterOutput, exitWithError, UsageError } from "./project/index.ts";

const USAGE = `tsweb: a web application server for TypeScript

  tsweb new <folder>      create a project; tsweb new --help lists the templates
  tsweb new --deploy      add a Dockerfile and the like to the project in the current folder
  tsweb dev [folder]      serve an application during development
  tsweb build [folder]    build it into <folder>/dist, which runs with plain Node
      --keep-from <dist>  also serve the scripts and styles of an earlier build
  tsweb serve [dist]      serve a built application
  tsweb routes [folder]   list pages, routes and functions, and mark unchecked parameters
  tsweb openapi [folder]  print the OpenAPI document of its functions
  tsweb check --production
                          check whether the environment is ready for production
  tsweb --version         print the version

[folder] is the folder that contains src/app.ts; by default the current folder.
Environment variables configure the server: PORT, HOST, WEB_AUTH_SECRET and the rest of docs/configuration.md.
`;

const COMMANDS: readonly string[] = ["new", "dev", "build", "serve", "routes", "openapi", "check"];

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  "keep-from": { type: "string" },
  production: { type: "boolean" },
  version: { type: "boolean", short: "v" },
} as const;

async function main(args: string[]): Promise<void> {
  if (args[0] === "new") return (await import("./new/index.ts")).createProject(args.slice(1), "tsweb new");
  const { positionals, values } = parse(args);
  const [command, folder, ...extra] = positionals;
  if (values.version) {
    process.stdout.write(`${version()}\n`);
    return;
  }
  if (values.help || command === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  if (extra.length > 0) {
    throw new UsageError(
      `Too many arguments for tsweb ${command}: ${extra.join(" ")}. It takes one folder. Quote a name that contains a space.`,
    );
  }
  const folderToKeep = values["keep-from"];
  const keepFrom = folderToKeep === undefined ? undefined : resolve(folderToKeep);
  if (keepFrom !== undefined && command !== "build") {
    throw new UsageError(`--keep-from is an option of \`tsweb build\`, not of \`tsweb ${command}\`.`);
  }
  switch (command) {
    case "dev":
      return (await import("./dev/index.ts")).runDev(resolve(folder ?? "."));
    case "build":
      // Vite would otherwise build for development if the variable has another value: with the paths of this machine.
      process.env.NODE_ENV = "production";
      await (await import("./build/index.ts")).build(resolve(folder ?? "."), { keepFrom });
      return exitAfterOutput(0);
    case "serve":
      return serveBuilt(resolve(folder ?? "dist"));
    case "check":
      if (!values.production) throw new UsageError("tsweb check requires an option: tsweb check --production");
      return (await import("./check.ts")).printProductionCheck(process.env, process.cwd());
    case "routes":
      return (await import("./inspect.ts")).printRoutes(resolve(folder ?? "."));
    case "openapi":
      return (await import("./inspect.ts")).printOpenApi(resolve(folder ?? "."));
    default:
      throw new UsageError(unknownCommandMessage(command));
  }
}

/** Returns the version in the package's own package.json, which is beside the folder of the compiled files. */
function version(): string {
  const { version } = createRequire(import.meta.url)("../../package.json") as { readonly version: string };
  return version;
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, allowPositionals: true, options: OPTIONS });
  } catch (error) {
    const advice = settingAdvice(args) ?? optionAdvice(error);
    if (advice !== undefined) throw new UsageError(`${advice} \`tsweb --help\` describes all options.`);
    // Node's first sentence names the argument; the others address the author of the program.
    const [sentence] = String(error instanceof Error ? error.message : error).split(". ");
    throw new UsageError(`${sentence}.\n\n${USAGE}`);
  }
}

/** The commands of other tools, with what to run in their place. */
const OTHER_COMMANDS: ReadonlyMap<string, string> = new Map([
  ...["start", "preview", "run"].map(
    (name) => [name, "`tsweb serve` serves a built application, and `tsweb dev` one in development."] as const,
  ),
  ...["generate", "create", "init"].map((name) => [name, "`tsweb new` creates a project."] as const),
]);

function unknownCommandMessage(command: string): string {
  const similar = closestName(command, COMMANDS);
  const fix =
    OTHER_COMMANDS.get(command) ??
    (similar ? `Did you mean \`tsweb ${similar}\`?` : `The commands are ${COMMANDS.join(", ")}.`);
  return `Unknown command ${command}. ${fix} \`tsweb --help\` describes all commands.`;
}

/** The options of other tools for the address of a server, with the variable that sets it. */
const SETTINGS: Readonly<Record<string, { readonly variable: string; readonly example: string }>> = {
  "--port": { variable: "PORT", example: "4000" },
  "-p": { variable: "PORT", example: "4000" },
  "--host": { variable: "HOST", example: "0.0.0.0" },
  "-H": { variable: "HOST", example: "0.0.0.0" },
};

/** Returns how to set the address of the server, if an argument is an option for it, such as `--port=4000` or `-p4000`. */
function settingAdvice(args: readonly string[]): string | undefined {
  for (const [index, arg] of args.entries()) {
    const [, option = "", attached] = /^(--[a-z]+|-[a-zA-Z])(?:=?(.+))?$/.exec(arg) ?? [];
    const setting = SETTINGS[option];
    if (!setting) continue;
    const value = attached ?? args[index + 1];
    const { variable, example } = setting;
    const command = args.find((other) => COMMANDS.includes(other)) ?? "dev";
    const assignment = `${variable}=${value && /^[\w.:-]+$/.test(value) && !value.startsWith("-") ? value : example}`;
    return (
      `tsweb has no option ${option}. Set the environment variable ${variable}: \`${assignment} tsweb ${command}\`, ` +
      `or write ${assignment} into .env.`
    );
  }
  return undefined;
}

/** The options of other tools, in lower case and without hyphens, with what to do in their place. */
const OTHER_OPTIONS: ReadonlyMap<string, string> = new Map([
  ...["watch", "w"].map((name) => [name, "`tsweb dev` serves the application and applies each edit."] as const),
  ...["outdir", "out", "output", "o"].map(
    (name) => [name, "`tsweb build` writes into dist in the application's folder."] as const,
  ),
]);

/**
 * Returns what to do about an unknown option, if it is one of other tools, or similar to one of tsweb.
 *
 * @param error what `parseArgs` of Node has thrown
 */
function optionAdvice(error: unknown): string | undefined {
  const options = Object.keys(OPTIONS);
  const message = error instanceof Error ? error.message : "";
  const [, option] = /^Unknown option '(--?[\w-]+)'/.exec(message) ?? [];
  if (option === undefined) return undefined;
  const name = option.replace(/^-+/, "");
  const start = name.length > 2 ? options.find((candidate) => candidate.startsWith(name)) : undefined;
  const similar = start ?? closestName(name, name.length > 1 ? options : []);
  const fix =
    OTHER_OPTIONS.get(name.toLowerCase().replaceAll("-", "")) ?? (similar && `Did you mean \`--${similar}\`?`);
  return fix === undefined ? undefined : `tsweb has no option ${option}. ${fix}`;
}

/**
 * Serves a built application, like `node dist/server.mjs`, which needs no tsweb installed.
 *
 * @param folder the output of `tsweb build`
 * @throws BuildError when there is no built application in the folder
 */
async function serveBuilt(folder: string): Promise<void> {
  const server = join(folder, "server.mjs");
  if (!existsSync(server)) {
    throw new BuildError(`No built application in ${folder}: server.mjs does not exist. Build it first: tsweb build`);
  }
  await import(pathToFileURL(server).href);
}

main(process.argv.slice(2)).catch(exitWithError);
