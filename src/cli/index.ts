import { createRequire } from "node:module";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { optionAdvice, settingAdvice, unknownCommandMessage } from "./argument-advice.ts";
import { exitAfterOutput, exitWithError, UsageError } from "./project/index.ts";

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

const COMMANDS = ["new", "dev", "build", "serve", "routes", "openapi", "check"] as const;

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
      return (await import("./serve.ts")).serveBuilt(resolve(folder ?? "dist"));
    case "check":
      if (!values.production) throw new UsageError("tsweb check requires an option: tsweb check --production");
      return (await import("./check.ts")).printProductionCheck(process.env, process.cwd());
    case "routes":
      return (await import("./inspect.ts")).printRoutes(resolve(folder ?? "."));
    case "openapi":
      return (await import("./inspect.ts")).printOpenApi(resolve(folder ?? "."));
    default:
      throw new UsageError(unknownCommandMessage(command, COMMANDS));
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
    const advice = settingAdvice(args, COMMANDS) ?? optionAdvice(error, Object.keys(OPTIONS));
    if (advice !== undefined) throw new UsageError(`${advice} \`tsweb --help\` describes all options.`);
    // Node's first sentence names the argument; the others address the author of the program.
    const [sentence] = String(error instanceof Error ? error.message : error).split(". ");
    throw new UsageError(`${sentence}.\n\n${USAGE}`);
  }
}

main(process.argv.slice(2)).catch(exitWithError);
