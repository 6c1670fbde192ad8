/** What to do about arguments of the commands that other tools have, and about misspelled ones. */
import { closestName } from "../text/index.ts";

/** The commands of other tools, with what to run in their place. */
const OTHER_COMMANDS: ReadonlyMap<string, string> = new Map([
  ...["start", "preview", "run"].map(
    (name) => [name, "`tsweb serve` serves a built application, and `tsweb dev` one in development."] as const,
  ),
  ...["generate", "create", "init"].map((name) => [name, "`tsweb new` creates a project."] as const),
]);

/** Returns the message for an unknown command. */
export function unknownCommandMessage(command: string, commands: readonly string[]): string {
  const similar = closestName(command, commands);
  const fix =
    OTHER_COMMANDS.get(command) ??
    (similar ? `Did you mean \`tsweb ${similar}\`?` : `The commands are ${commands.join(", ")}.`);
  return `Unknown command ${command}. ${fix} \`tsweb --help\` describes all commands.`;
}

/** The options of other tools for the address of a server, with the variable that sets it. */
const SETTINGS: Readonly<Record<string, { readonly variable: string; readonly example: string }>> = {
  "--port": { variable: "PORT", example: "4000" },
  "-p": { variable: "PORT", example: "4000" },
  "--host": { variable: "HOST", example: "0.0.0.0" },
  "-H": { variable: "HOST", example: "0.0.0.0" },
};

/**
 * Returns how to set the address of the server, if an argument is an option for it, such as `--port=4000` or `-p4000`.
 *
 * @param commands the commands of tsweb, of which one may be among the arguments
 */
export function settingAdvice(args: readonly string[], commands: readonly string[]): string | undefined {
  for (const [index, arg] of args.entries()) {
    const [, option = "", attached] = /^(--[a-z]+|-[a-zA-Z])(?:=?(.+))?$/.exec(arg) ?? [];
    const setting = SETTINGS[option];
    if (!setting) continue;
    const value = attached ?? args[index + 1];
    const { variable, example } = setting;
    const command = args.find((other) => commands.includes(other)) ?? "dev";
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
 * @param options the names of the options of tsweb
 */
export function optionAdvice(error: unknown, options: readonly string[]): string | undefined {
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
