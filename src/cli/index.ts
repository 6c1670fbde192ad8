import { resolve } from "node:path";
import { parseArgs } from "node:util";

const USAGE = `tsweb: a web application server for TypeScript

  tsweb new <folder>      make an application to begin with
  tsweb dev [folder]      serve an application while you write it
  tsweb build [folder]    build it into <folder>/dist, which runs with plain Node
  tsweb serve [dist]      serve what was built
  tsweb routes [folder]   list what it serves, and the parameters that nothing checks
  tsweb openapi [folder]  print the OpenAPI document of its functions
  tsweb check --production
                          say whether the environment is fit to serve the public

The folder is the one with src/app.ts in it; the current one unless said.
The environment configures it: PORT, HOST, WEB_AUTH_SECRET and the rest of docs/configuration.md.
`;

/** A mistake at the command line: shown without a stack. */
class UsageError extends Error {}

async function main(args: string[]): Promise<void> {
  const { positionals, values } = parse(args);
  const [command, folder, ...more] = positionals;
  if (values.help || command === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  if (more.length > 0) {
    throw new UsageError(
      `tsweb ${command} takes one folder, not also ${more.join(" ")}. A name with a space in it goes in quotes.`,
    );
  }
  switch (command) {
    case "new":
      if (!folder) throw new UsageError("tsweb new takes the folder to make. Write it as in: tsweb new shop");
      return (await import("./new.ts")).printNew(folder);
    case "dev":
      return (await import("./dev.ts")).dev(resolve(folder ?? "."));
    case "build":
      await (await import("./build.ts")).build(resolve(folder ?? "."));
      return end(0);
    case "serve":
      return (await import("./serve.ts")).serveBuilt(resolve(folder ?? "dist"));
    case "check":
      if (!values.production) throw new UsageError("tsweb check takes what is to be checked: --production.");
      return (await import("./check.ts")).printProductionCheck(process.env);
    case "routes":
      return (await import("./routes.ts")).printRoutes(resolve(folder ?? "."));
    case "openapi":
      return (await import("./openapi.ts")).printOpenApi(resolve(folder ?? "."));
    default:
      throw new UsageError(`There is no command ${command}.\n\n${USAGE}`);
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
    const [said] = String(error instanceof Error ? error.message : error).split(". "); // what follows is for programmers
    throw new UsageError(`${said}.\n\n${USAGE}`);
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const expected = error instanceof UsageError || (error instanceof Error && EXPECTED.has(error.name));
  console.error(expected ? (error as Error).message : error);
  end(1);
});

/** Ends the process once all is written, whatever an application that was loaded keeps open: a database, say. */
function end(code: number): void {
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}

/** Errors that say all there is to say: their stack would only hide it. */
const EXPECTED: ReadonlySet<string> = new Set(["ConfigError", "CompileError", "BuildError", "ListenError"]);
