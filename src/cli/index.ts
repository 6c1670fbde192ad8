import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { exitAfterOutput, exitWithError, UsageError } from "./project/index.ts";

const USAGE = `tsweb: a web application server for TypeScript

  tsweb new <folder>      create a project; tsweb new --help lists the templates
  tsweb dev [folder]      serve an application during development
  tsweb build [folder]    build it into <folder>/dist, which runs with plain Node
  tsweb serve [dist]      serve a built application
  tsweb routes [folder]   list pages, routes and functions, and mark unchecked parameters
  tsweb openapi [folder]  print the OpenAPI document of its functions
  tsweb check --production
                          check whether the environment is ready for production

[folder] is the folder that contains src/app.ts; by default the current folder.
Environment variables configure the server: PORT, HOST, WEB_AUTH_SECRET and the rest of docs/configuration.md.
`;

async function main(args: string[]): Promise<void> {
  if (args[0] === "new") return (await import("./new/index.ts")).createProject(args.slice(1), "tsweb new");
  const { positionals, values } = parse(args);
  const [command, folder, ...extra] = positionals;
  if (values.help || command === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  if (extra.length > 0) {
    throw new UsageError(
      `Too many arguments for tsweb ${command}: ${extra.join(" ")}. It takes one folder. Quote a name that contains a space.`,
    );
  }
  switch (command) {
    case "dev":
      return (await import("./dev/index.ts")).runDev(resolve(folder ?? "."));
    case "build":
      await (await import("./build/index.ts")).build(resolve(folder ?? "."));
      return exitAfterOutput(0);
    case "serve":
      return (await import("./serve.ts")).serveBuilt(resolve(folder ?? "dist"));
    case "check":
      if (!values.production) throw new UsageError("tsweb check requires an option: tsweb check --production");
      return (await import("./check.ts")).printProductionCheck(process.env, process.cwd());
    case "routes":
      return (await import("./routes.ts")).printRoutes(resolve(folder ?? "."));
    case "openapi":
      return (await import("./openapi.ts")).printOpenApi(resolve(folder ?? "."));
    default:
      throw new UsageError(`Unknown command ${command}.\n\n${USAGE}`);
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { help: { type: "boolean", short: "h" }, production: { type: "boolean" } },
    });
  } catch (error) {
    // Node's first sentence names the argument; the others address the author of the program.
    const [sentence] = String(error instanceof Error ? error.message : error).split(". ");
    throw new UsageError(`${sentence}.\n\n${USAGE}`);
  }
}

main(process.argv.slice(2)).catch(exitWithError);
