import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { type ConfigEnv, loadConfigFromFile, normalizePath, type Plugin, type UserConfig } from "vite";
import { missingImportError, ProjectError } from "../../compile/index.ts";
import { closestName } from "../../text/index.ts";
import { BuildError, readIfExists } from "../project/index.ts";
import { errorText } from "./error-log.ts";
import { explainError, heading } from "./explain-error.ts";

/**
 * Runs work that loads a Vite config. The stacks of the errors that the config throws refer to its own lines. Rolldown's
 * warnings about missing packages are not printed: the error that follows has the location and the fix.
 *
 * @throws what the work throws
 */
export async function withConfigStacks<T>(work: () => Promise<T>): Promise<T> {
  const { warn } = console;
  const filtered: typeof warn = (...values) => {
    if (!String(values[0]).includes("[UNRESOLVED_IMPORT]")) warn(...values);
  };
  console.warn = filtered;
  process.setSourceMapsEnabled(true);
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error) void error.stack; // it is computed, and mapped, when it is first read
    throw error;
  } finally {
    process.setSourceMapsEnabled(false); // Vite maps the stacks of the application by itself
    if (console.warn === filtered) console.warn = warn;
  }
}

/**
 * Runs work that loads a Vite config when a command starts.
 *
 * @throws BuildError with message, location and source lines, if the config cannot be loaded; ProjectError for another mistake
 */
export async function loadingConfig<T>(root: string, work: () => Promise<T>): Promise<T> {
  return withConfigStacks(work).catch((error: unknown) => {
    throw error instanceof ProjectError ? error : new BuildError(configErrorText(error, root));
  });
}

/** Formats an error of a Vite config for a terminal: message, location and source lines. */
function configErrorText(error: unknown, root: string): string {
  const explained = explainError(locateInConfig(error, root), root);
  // A stack without a line of the project is Vite's.
  return explained.location ? errorText(explained) : `\n${heading(explained)}\n`;
}

/**
 * Loads the Vite config of a project once more, and returns its error with its location as text: when Vite restarts, it
 * prints the message only. Returns `undefined` if the config can be loaded, or its error has no location.
 */
export async function locateConfigError(root: string, env: ConfigEnv): Promise<string | undefined> {
  try {
    await withConfigStacks(() => loadConfigFromFile(env, undefined, root, "silent"));
    return undefined;
  } catch (error) {
    const { location } = explainError(locateInConfig(error, root), root);
    return location ? configErrorText(error, root) : undefined;
  }
}

/** Vite compiles a config into such a file, in `node_modules/.vite-temp` if it can, and removes it. */
const COMPILED_CONFIG = /(?:file:\/\/)?\S*\/(vite\.config\.\w+)\.timestamp\S*?\.mjs/g;

/** The errors of Node, and of Rolldown, for an import of a package or a file that does not exist. */
const NOT_FOUND =
  /^(?:Cannot find (?:package|module)|Could not resolve) '(?<specifier>[^']+)' (?:imported from|in) (?<config>\S+)/;

/** Rolldown's error: its message, and a frame with the location. */
const OF_ROLLDOWN = /^(?<message>[^╭]*?)\s*╭─\[ (?<file>.+?):(?<line>\d+):(?<column>\d+) \]/s;

/** A position in a file, in a stack. */
const POSITION =
  /(?<=^\s*at .*?)(?<file>(?:\/|[A-Za-z]:[\\/])[^():]+\.[cm]?[jt]s):(?<line>\d+):(?<column>\d+)(?=\)?$)/gm;

/**
 * Returns an error of a Vite config with the location in its source.
 *
 * Vite compiles a config and the files that it imports together, and puts declarations at the beginning of the first line of
 * each. The columns in that line, and Rolldown's source lines, contain them.
 *
 * @param root the current folder, to which Rolldown's paths are relative
 */
export function locateInConfig(error: unknown, root: string): unknown {
  if (!(error instanceof Error)) return error;
  const message = stripVTControlCharacters(error.message)
    .replace(COMPILED_CONFIG, "$1")
    .replace(/^Build failed with 1 error:\s*(?:\[[A-Z_]+\] )?/, "")
    .trim();
  const { specifier, config } = NOT_FOUND.exec(message)?.groups ?? {};
  if (specifier && config) return missingImportError(specifier, normalizePath(resolve(root, config)), root);
  const syntax = OF_ROLLDOWN.exec(message)?.groups;
  if (!syntax) {
    const stack = error.stack?.replace(POSITION, (_, file: string, line: string, column: string) => {
      const position = positionInSource(file, Number(line), Number(column));
      return position ? `${file}:${position.line}:${position.column}` : file;
    });
    return Object.assign(new Error(message), { name: error.name, stack, cause: error.cause });
  }
  const file = normalizePath(resolve(root, syntax.file ?? ""));
  const position = positionInSource(file, Number(syntax.line), Number(syntax.column));
  const located = new SyntaxError(`${syntax.message?.replace(/\.?$/, ".")} Correct it.`);
  const loc = position && { file, line: position.line, column: position.column - 1 };
  return Object.assign(located, { stack: undefined, loc });
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** Returns the position in the source of a file for one in what Vite compiles; `undefined` if it is unknown. */
function positionInSource(file: string, line: number, column: number): Position | undefined {
  const code = readIfExists(file) ?? "";
  // More is inserted, whose lines depend on the version of Vite.
  if (/import\.meta\s*\.\s*resolve/.test(code)) return undefined;
  if (line !== 1 || code.startsWith("#!")) return { line, column };
  return { line, column: Math.max(1, column - declarations(file).length) };
}

/** What Vite inserts. `tests/system/dev-process.test.ts` fails when a version of Vite inserts another text. */
function declarations(file: string): string {
  const values = {
    dirname: resolve(file, ".."),
    filename: file,
    import_meta_url: pathToFileURL(file).href,
  };
  return Object.entries(values)
    .map(([name, value]) => `const __vite_injected_original_${name} = ${JSON.stringify(value)};`)
    .join("");
}

/** An option of Vite that has no effect, because tsweb has its own. */
interface IgnoredOption {
  readonly name: string;
  readonly value: unknown;
  /** A sentence that describes what to do in its place. */
  readonly replacement: string;
}

/** Options that tsweb sets in place of the project's Vite config. */
export type FixedOptions = Pick<UserConfig, "base" | "envDir" | "build" | "server">;

/**
 * Sets options that a project's Vite config cannot change, and prints once which of its options have no effect, with what to
 * use in their place.
 */
export function fixOptions(options: FixedOptions, warn: (message: string) => void): Plugin {
  const printed = new Set<string>();
  let messages: string[] = [];
  return {
    name: "tsweb:fixed-options",
    config: {
      order: "pre", // before the plugins of the project, which have reasons of their own
      handler(config, { command }) {
        messages = [...ignoredOptionMessages(config, command), ...misspelledOptionMessages(config)];
        return options;
      },
    },
    configResolved({ configFile }) {
      for (const message of messages) {
        if (printed.has(message)) continue;
        printed.add(message);
        warn(`${configFile ? basename(configFile) : "The Vite config"}: ${message}`);
      }
    },
  };
}

/** Returns a message for each option of a Vite config that has no effect, although it would have one in Vite. */
export function ignoredOptionMessages(config: UserConfig, command: ConfigEnv["command"]): string[] {
  const ofOtherCommand = command === "build" ? /^(?:server|preview|envDir)/ : /^build/;
  return ignoredOptions(config)
    .filter(({ name, value }) => value !== undefined && value !== false && !ofOtherCommand.test(name))
    .map(({ name, replacement }) => `${name} has no effect in tsweb. ${replacement}`);
}

/** The options of Vite and Vitest at the top of a config. */
const OPTIONS: readonly string[] = [
  ...[
    "root",
    "base",
    "mode",
    "define",
    "plugins",
    "publicDir",
    "cacheDir",
    "resolve",
    "html",
    "css",
    "json",
    "esbuild",
  ],
  ...["oxc", "assetsInclude", "logLevel", "customLogger", "clearScreen", "envDir", "envPrefix", "appType", "server"],
  ...["build", "preview", "dev", "optimizeDeps", "ssr", "worker", "environments", "experimental", "future", "legacy"],
  ...["builder", "test", "devtools", "input", "configFile"],
];

/** Returns a message for each option whose name is similar to one of Vite, which ignores options that it does not know. */
export function misspelledOptionMessages(config: object): string[] {
  return Object.keys(config).flatMap((name) => {
    const meant = OPTIONS.includes(name) ? undefined : closestName(name, OPTIONS);
    return meant === undefined ? [] : [`Unknown option ${name}, which Vite ignores. Did you mean ${meant}?`];
  });
}

function ignoredOptions({ base, envDir, build, server, preview }: UserConfig): IgnoredOption[] {
  const { port, host, open, https, proxy, cors } = server ?? {};
  return [
    { name: "base", value: isRelative(base) ? undefined : base, replacement: baseAdvice(base) },
    { name: "envDir", value: envDir, replacement: "tsweb dev reads .env and .env.local in the project's folder." },
    { name: "build.outDir", value: defaultTo("dist", build?.outDir), replacement: "tsweb build writes to dist/." },
    { name: "server.port", value: port, replacement: variableAdvice("PORT", port) },
    { name: "server.host", value: host, replacement: variableAdvice("HOST", host === true ? "0.0.0.0" : host) },
    { name: "server.open", value: open, replacement: "tsweb dev prints the address, and opens no browser." },
    {
      name: "server.https",
      value: https,
      replacement:
        "tsweb dev serves HTTP. Browsers treat http://localhost like HTTPS. Elsewhere, put a proxy in front of it.",
    },
    { name: "server.proxy", value: proxy, replacement: "Declare a route(…) that sends the request on with fetch()." },
    { name: "server.cors", value: cors, replacement: "Set the headers in the response of a route(…)." },
    { name: "preview.port", value: preview?.port, replacement: variableAdvice("PORT", preview?.port) },
  ];
}

/** Returns whether a base is that of an application at the root of its site, or of files that refer to each other. */
function isRelative(base: string | undefined): boolean {
  return base === undefined || ["", "/", "."].includes(base) || base.startsWith("./");
}

function baseAdvice(base = ""): string {
  const path = base.replace(/^https?:\/\/[^/]*/, "").replace(/\/+$/, "");
  return `Set the option base of new App: new App({ base: ${JSON.stringify(path || "/shop")}, … }).`;
}

function variableAdvice(name: string, value: unknown): string {
  const isPlain = typeof value === "number" || (typeof value === "string" && /^[\w.:-]+$/.test(value));
  const example = { PORT: "4000", HOST: "0.0.0.0" }[name];
  return `Set the environment variable ${name}, for example in .env: ${name}=${isPlain ? value : example}`;
}

function defaultTo(standard: string, value: string | undefined): string | undefined {
  return value?.replace(/^\.\/|\/$/g, "") === standard ? undefined : value;
}
