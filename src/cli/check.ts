import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  type Config,
  ConfigError,
  type ConfigProblem,
  type Environment,
  loadConfig,
  misspelledVariables,
  parseServerUrl,
  unusedVariables,
} from "../config/index.ts";
import { openBus } from "../live/index.ts";
import { rotationWarnings } from "../session/index.ts";
import { checkStart } from "./check-start.ts";
import { ENV_FILES, isNamedInProject } from "./project/index.ts";

/**
 * Prints whether an environment is ready for production. Otherwise the process exits with status 1, 2 if there are
 * warnings only, or 3 if the bus was unreachable.
 *
 * @param folder the current folder. Its `.env` files are not read, as a built application does not read them.
 */
export async function printProductionCheck(env: Environment, folder: string): Promise<void> {
  const bus = await checkBus(env);
  const environment = productionProblems(env);
  // With invalid variables, the application would report them once more.
  const start =
    readConfig(env).invalid.length === 0 ? await checkStart(env, folder) : { problems: [], notes: [], isLoaded: false };
  const isNew = ({ variable, problem }: ConfigProblem) =>
    !environment.some((each) => each.variable === variable && each.problem === problem);
  const problems = [...environment, ...bus.problems, ...start.problems.filter(isNew)];
  for (const note of envFileNotes(folder)) process.stderr.write(`${note}\n`);
  const notes = [...unusedVariableNotes(env, folder), ...(start.isLoaded ? [] : bus.notes), ...start.notes];
  const { errors, success, status } = describeCheck({ ...bus, notes, problems, isLoaded: start.isLoaded });
  process.stderr.write(errors);
  process.stdout.write(success);
  process.exitCode = status;
}

/** The exit status of an environment whose only findings are warnings. */
const WARNING_STATUS = 2;

/** The exit status if nothing was found, and the bus was unreachable: its host may be misspelled. */
const UNREACHABLE_STATUS = 3;

/**
 * Returns what the check prints, and its exit status: 1 for problems, 2 for warnings without problems, 3 for a bus
 * that was only unreachable, otherwise 0. That
 * an environment is ready is stated only if everything was checked and nothing was found.
 */
export function describeCheck({
  problems,
  warnings,
  notes,
  unreachable,
  reached,
  isLoaded = false,
}: BusCheck & { /** Whether the built application accepts the environment. */ readonly isLoaded?: boolean }) {
  const lines = [
    ...notes,
    ...(unreachable === undefined ? [] : [unreachable]),
    ...warnings,
    ...problems.map(({ variable, problem, fix }) => `${variable} ${problem}\n  ${fix}`),
  ];
  const errors = lines.map((line) => `${line}\n`).join("");
  if (problems.length > 0) return { errors, success: "", status: 1 };
  const checked = [
    ...READY,
    ...(isLoaded ? [LOADED] : []),
    ...(reached === undefined ? [] : [`The bus ${reached} was reached, and keeps live updates.`]),
  ];
  const title =
    notes.length + warnings.length === 0 && unreachable === undefined
      ? "This environment is ready for production:"
      : "Apart from what is printed above, nothing was found:";
  const success = [title, ...checked.map((line) => `  ${line}`)].map((line) => `${line}\n`).join("");
  if (warnings.length > 0) return { errors, success, status: WARNING_STATUS };
  return { errors, success, status: unreachable === undefined ? 0 : UNREACHABLE_STATUS };
}

/** Returns a note about each file of variables: `tsweb dev` reads it, and a built application does not. */
export function envFileNotes(folder: string): readonly string[] {
  return ENV_FILES.filter((name) => existsSync(join(folder, name))).map(
    (name) =>
      `${name} was not read: a built application reads the environment only. To use the file there, start it with ` +
      `node --env-file=${name} dist/server.mjs`,
  );
}

/**
 * Returns a note about each variable that is probably a misspelled one of tsweb, although that one is set too. It is no problem:
 * the server would start, and the application may read it in a way that its files do not show.
 */
export function unusedVariableNotes(env: Environment, folder: string): readonly string[] {
  return unusedVariables(env, (name) => isNamedInProject(folder, name)).map(
    ({ variable, problem, fix }) => `${variable} ${problem} ${fix}`,
  );
}

const LOADED = "The application in dist was loaded with it, and would start.";

const READY = [
  "Every variable is valid, and the secret is set and random.",
  "The mode is production, cookies are sent over HTTPS only, and the origin and the number of proxies are set.",
];

/**
 * Returns the problems of an environment for production: everything that would prevent the server from starting,
 * the settings that the server accepts although they are unsafe in public, folders that cannot be used, and misspelled
 * variables.
 */
export function productionProblems(env: Environment): readonly ConfigProblem[] {
  const unsafe = [
    ...(env.WEB_ENV === "development" ? [DEVELOPMENT] : []),
    ...(isOff(env.WEB_COOKIE_SECURE) ? [INSECURE_COOKIE] : []),
    ...(isOff(env.WEB_TRUST_PROXY) ? [NO_PROXY] : []),
    ...(env.WEB_ORIGIN ? [] : [NO_ORIGIN]),
    ...folderProblems(env),
  ];
  const misspelled = misspelledVariables(env);
  // The error has those that are misspelled, but for WEB_ENV, which is set here.
  const isNew = ({ variable }: ConfigProblem) => !misspelled.some((each) => each.variable === variable);
  return [...unsafe, ...readConfig(env).invalid.filter(isNew), ...misspelled];
}

/** Reads the variables as a built application does, and returns the problems with which it would not start. */
function readConfig(env: Environment): { readonly config?: Config; readonly invalid: readonly ConfigProblem[] } {
  try {
    return { config: loadConfig({ ...env, WEB_ENV: "production" }, CHECKED_AS), invalid: [] }; // development would accept a weak secret
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { invalid: error.problems };
  }
}

/** Invalid values are not off: `loadConfig` reports them. */
function isOff(text: string | undefined): boolean {
  return text === undefined || text === "" || text === "0";
}

const DEVELOPMENT: ConfigProblem = {
  variable: "WEB_ENV",
  problem: "is development: a missing secret would be replaced by one that can be guessed.",
  fix: "Leave it out, or set it to production.",
};

const INSECURE_COOKIE: ConfigProblem = {
  variable: "WEB_COOKIE_SECURE",
  problem: "is off: browsers send the session cookie over plain HTTP too, where anyone on the network can read it.",
  fix: "Serve over HTTPS, and set it to 1.",
};

const NO_PROXY: ConfigProblem = {
  variable: "WEB_TRUST_PROXY",
  problem:
    "is 0, but HTTPS needs a proxy in front. All of its users would count as one client, and calls from the " +
    "application's own pages could be rejected as cross-origin.",
  fix: "Set it to the number of proxies in front that set X-Forwarded-For, usually 1.",
};

const NO_ORIGIN: ConfigProblem = {
  variable: "WEB_ORIGIN",
  problem:
    "is not set: calls are accepted from pages of any host name that leads to this server, also from those of a site " +
    "that points its own name at it (DNS rebinding).",
  fix: "Set it to the origins that users open, for example https://shop.example.",
};

/**
 * Returns a problem for each folder of the environment that this user cannot use. A folder that is missing is created at the
 * start, so its parent has to be writable. Creates and writes nothing.
 *
 * `WEB_DATA_DIR` is used only without `WEB_BUS_URL`.
 */
export function folderProblems(env: Environment): ConfigProblem[] {
  const variables = ["WEB_UPLOAD_DIR", ...(env.WEB_BUS_URL ? [] : ["WEB_DATA_DIR"])];
  return variables.flatMap((variable) => {
    const text = env[variable];
    const reason = text ? unusable(resolve(text)) : undefined;
    if (reason === undefined) return [];
    const fix =
      "Create the folder for the user that runs the application, or set another one. Run this check as that user.";
    return [{ variable, problem: `is a folder that cannot be used: ${reason}.`, fix }];
  });
}

/** Returns why a process of this user cannot write files in a folder, or cannot create it. */
function unusable(folder: string): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return `${folder} is no folder`;
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // of `node:fs`
    if (code === "ENOENT" && dirname(folder) !== folder) return unusable(dirname(folder));
    return message;
  }
}

/** The result of {@link checkBus}. */
interface BusCheck {
  readonly problems: readonly ConfigProblem[];
  /** What users would notice if this environment was deployed now, in full sentences. */
  readonly warnings: readonly string[];
  /** What could not be checked, in full sentences. */
  readonly notes: readonly string[];
  /** Why the server of the bus was not checked: it is unreachable from here. */
  readonly unreachable?: string;
  /** The hosts of the server that was reached and checked, without user name and password. */
  readonly reached?: string;
}

const NOTHING = { problems: [], warnings: [], notes: [] } as const;

const NO_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Connects to the server of `WEB_BUS_URL`, and returns what makes it unsuitable for production. It writes nothing there.
 *
 * @param env a valid environment; of an invalid one, nothing is checked
 */
export async function checkBus(env: Environment): Promise<BusCheck> {
  const { config } = readConfig(env);
  if (!config) return NOTHING;
  const { busUrl, busNamespace, workers } = config;
  if (busUrl === undefined) return workers > 1 ? { ...NOTHING, notes: [missingBus(workers)] } : NOTHING;
  const bus = openBus({ busUrl, busNamespace, log: NO_LOG });
  try {
    const problems = (await bus.check?.()) ?? [];
    const stored = (await bus.storedFingerprints?.()) ?? [];
    const warnings = rotationWarnings([config.secret, ...config.previousSecrets], stored);
    return { problems, warnings, notes: [], reached: addressOf(busUrl) };
  } catch (error) {
    if (error instanceof ConfigError) return { ...NOTHING, problems: error.problems };
    const reason = error instanceof Error ? error.message : String(error);
    return { ...NOTHING, unreachable: `${UNREACHABLE} ${reason}` };
  } finally {
    await bus.close();
  }
}

/** Returns the protocol and the hosts of a URL, which has been validated. The rest of it may be secret. */
function addressOf(busUrl: string): string {
  const server = parseServerUrl(busUrl);
  return server ? `${server.url.protocol}//${server.hosts.join(",")}` : "WEB_BUS_URL";
}

const UNREACHABLE =
  "WEB_BUS_URL was not checked, because its server is unreachable from here: whether it keeps live updates is unknown. " +
  "Run this command where the application runs.";

function missingBus(workers: number): string {
  return (
    `WEB_WORKERS is ${workers} and WEB_BUS_URL is not set: src/app.ts has to call realtime.use_bus. Otherwise the ` +
    "server does not start."
  );
}

/** How the check reads the environment: as a built application that may install a bus itself. */
const CHECKED_AS = { built: true, projectDir: process.cwd(), hasSharedBus: true } as const;
