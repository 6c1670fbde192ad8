import { basename } from "node:path";
import { parseArgs } from "node:util";
import { closestName } from "../../text/index.ts";
import { BuildError } from "../project/index.ts";
import { TEMPLATES, type TemplateName } from "./files.ts";

/** The project that a command line of `tsweb new` requests. */
export interface NewOptions {
  /** The folder to create, as written on the command line. */
  readonly folder: string;
  /** Whether the files of a deployment are written. */
  readonly deploy: boolean;
  readonly template: TemplateName;
  /** Whether to install the packages. */
  readonly install: boolean;
}

const NAMES = Object.keys(TEMPLATES) as TemplateName[]; // the keys of a constant
const [DEFAULT] = NAMES as [TemplateName]; // it has at least one

/**
 * Returns the help text of the command.
 *
 * @param command the command as the user writes it, such as `tsweb new`
 */
export function newUsage(command: string): string {
  const templates = Object.entries(TEMPLATES).map(([name, text]) => `      ${name.padEnd(10)}${text}\n`);
  return `${command} <folder>: create a project

  ${command} shop
  ${command} shop ${optionOf(command, "--template board")}
  ${command} .        in the current folder, which must be empty
  ${command} ${optionOf(command, "--deploy")}
                      add the files of a deployment to the project in the current folder

Options:
  --template <name>   the template, by default ${DEFAULT}:
${templates.join("")}  --deploy            with the files of a deployment: Dockerfile, compose.yaml, and deploy/
                      for nginx, Caddy, systemd and Kubernetes
  --no-install        do not install the packages
  --help              show this text
`;
}

/**
 * Reads the arguments of `tsweb new`.
 *
 * @param args the arguments after the command
 * @param command the command as the user writes it
 * @param env the environment variables of the process
 * @returns the options of a new project; `"deployment"` to add the files of a deployment to the project in the current folder;
 *   or `null` if the arguments request the help text
 * @throws BuildError for wrong arguments, with an example of a valid command
 */
export function parseNewArguments(
  args: readonly string[],
  command: string,
  env: NodeJS.ProcessEnv,
): NewOptions | "deployment" | null {
  const { positionals, values } = parse(args, command);
  if (values.help) return null;
  if (values.template === undefined) requireNotReadByNpm("template", { command, env, example: "--template board" });
  if (values.deploy === undefined) requireNotReadByNpm("deploy", { command, env, example: "--deploy" });
  const [folder, ...extra] = positionals;
  const { deploy = false, template, "no-install": noInstall = false } = values;
  if (folder === undefined && deploy && template === undefined && !noInstall) return "deployment";
  if (!folder) {
    throw new BuildError(
      `${command} requires the folder to create. For example: ${command} shop\n` +
        `The option --template selects a template: ${NAMES.join(", ")}. The default is ${DEFAULT}.`,
    );
  }
  if (extra.length > 0) {
    throw new BuildError(
      `Too many arguments for ${command}: ${extra.join(" ")}. It takes one folder. Quote a name that contains a space.`,
    );
  }
  checkFolderName(folder);
  return { folder, deploy, template: templateOf(template), install: !noInstall };
}

/** npm takes an option before `--` for its own, and passes only the other arguments to the command. */
function requireNotReadByNpm(
  option: string,
  { command, env, example }: { readonly command: string; readonly env: NodeJS.ProcessEnv; readonly example: string },
): void {
  if (env[`npm_config_${option}`] === undefined) return;
  throw new BuildError(
    `npm has read --${option} as an option of npm. Write -- in front of it: ${command} shop ${optionOf(command, example)}`,
  );
}

/** Returns an option as it is written after a command: `npm create` needs a `--` in front of it. */
function optionOf(command: string, option: string): string {
  return command.startsWith("npm ") ? `-- ${option}` : option;
}

function parse(args: readonly string[], command: string) {
  try {
    return parseArgs({
      args: args.filter((arg) => arg !== "--"), // which some package managers pass, and others remove
      allowPositionals: true,
      options: {
        deploy: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        template: { type: "string", short: "t" },
        "no-install": { type: "boolean" },
      },
    });
  } catch (error) {
    // Node's first sentence names the argument; the others address the author of the program.
    const [sentence] = String(error instanceof Error ? error.message : error).split(". ");
    throw new BuildError(`${sentence}.\n\n${newUsage(command)}`);
  }
}

/** @throws BuildError for an unknown name */
function templateOf(input: string | undefined): TemplateName {
  if (input === undefined) return DEFAULT;
  const name = NAMES.find((name) => name === input);
  if (name) return name;
  const meant = closestName(input, NAMES);
  const question = meant ? ` Did you mean ${meant}?` : "";
  throw new BuildError(`Unknown template ${JSON.stringify(input)}.${question} Valid templates: ${NAMES.join(", ")}.`);
}

/** The longest package name that npm accepts. */
const MAX_NAME_CHARS = 214;

/** A package cannot depend on a package of its own name, and npm reserves the last two. */
const RESERVED: ReadonlySet<string> = new Set(["tsweb", "typescript", "vitest", "node_modules", "favicon.ico"]);

/**
 * Returns a package name that npm accepts, made from the name of a folder: in lower case, without accents, and with
 * dashes for invalid characters; `app` when nothing is left.
 *
 * @param dir the folder's absolute path
 */
export function packageName(dir: string): string {
  const name = basename(dir)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^[-._]+/, "")
    .slice(0, MAX_NAME_CHARS)
    .replace(/[-.]+$/, "");
  if (name === "") return "app";
  return RESERVED.has(name) ? `${name}-app` : name;
}

/**
 * Rejects folder names that are probably a mistake: only spaces, control characters, and a dash at the front, which
 * the next commands would take for an option.
 *
 * @throws BuildError with an example of a valid command
 */
export function checkFolderName(text: string): void {
  if (text.trim() !== "" && !/\p{Cc}/u.test(text) && !text.startsWith("-")) return;
  throw new BuildError(`${JSON.stringify(text)} cannot be the name of a folder. Choose another one: tsweb new shop`);
}
