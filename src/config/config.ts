import { hkdfSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { hostname, userInfo } from "node:os";
import { resolve } from "node:path";

/** Everything the environment says, read once at start. Frozen. */
export interface Config {
  /** Whether guessable keys and development help are refused. */
  readonly production: boolean;
  /** The root of all keys: 32 bytes. */
  readonly secret: Uint8Array;
  /** Roots that still verify and never sign, newest first. */
  readonly previousSecrets: readonly Uint8Array[];
  /** Cookies carry `Secure`, and the session's name the `__Host-` prefix. */
  readonly cookieSecure: boolean;
  /** The root of CSRF tokens; absent when they are not asked for. */
  readonly csrfSecret?: Uint8Array;
  /** The origins that are this site; empty: the connection's own scheme and host. */
  readonly origins: readonly string[];
  /** How many proxies in front are believed. */
  readonly trustProxy: number;
  /** The shared bus; it may hold a password: not for logs. */
  readonly busUrl?: string;
  /** How many live connections and streams one client may hold. */
  readonly maxStreamsPerClient: number;
  /** Where metrics are served; absent: nowhere. */
  readonly metricsPath?: string;
  readonly host: string;
  /** `0` lets the system choose. */
  readonly port: number;
  /** How many processes serve. */
  readonly workers: number;
}

/** What is wrong with one variable of the environment. */
export interface ConfigProblem {
  readonly variable: string;
  /** What is wrong; never a secret's value. */
  readonly problem: string;
  /** What to do about it. */
  readonly fix: string;
}

/** Says that the environment cannot be used: every variable that is wrong, all at once. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ variable, problem, fix: mend }) => `${variable} ${problem}\n  ${mend}`).join("\n"));
    this.problems = problems;
  }

  override get name(): string {
    return "ConfigError";
  }
}

/** What decides, beside the environment, how it is read. */
export interface ConfigOptions {
  /** Whether this is a built application: production, unless `WEB_ENV=development` says otherwise. */
  readonly built: boolean;
  /** The project's directory: part of what the development key is made from. */
  readonly projectDir: string;
}

/** The environment, as `process.env` gives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

const SECRET_BYTES = 32;
const MAX_PREVIOUS_SECRETS = 8;
const MAKE_A_SECRET = "Make one with: node -e \"console.log(require('node:crypto').randomBytes(32).toString('hex'))\"";

/** Thrown for one variable, gathered by {@link loadConfig}. */
class Unusable extends Error {
  readonly problem: string;
  readonly mend: string;

  constructor(problem: string, mend: string) {
    super(problem);
    this.problem = problem;
    this.mend = mend;
  }
}

/**
 * Reads the environment. A variable that is set to nothing counts as not set.
 *
 * Production is `WEB_ENV=production`, and whatever is built unless `WEB_ENV=development`: a
 * variable that was forgotten must not leave a guessable key behind.
 *
 * @throws ConfigError naming every variable that cannot be used, why, and the mend
 */
export function loadConfig(env: Environment, options: ConfigOptions): Config {
  const problems: ConfigProblem[] = [];
  function read<T>(variable: string, parse: (text: string) => T, otherwise: T): T {
    const text = env[variable];
    if (text === undefined || text === "") return otherwise;
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      problems.push({ variable, problem: error.problem, fix: error.mend });
      return otherwise;
    }
  }

  // Of a WEB_ENV that nobody can read, the strict side is taken for the rest of the reading.
  const production = read<boolean>("WEB_ENV", parseMode, options.built || Boolean(env.WEB_ENV));
  const secretOf = (text: string) => parseSecret(text, production);
  const secret = read("WEB_AUTH_SECRET", secretOf, undefined);
  const csrfSecret = read("WEB_CSRF_SECRET", secretOf, undefined);
  const busUrl = read("WEB_BUS_URL", parseBusUrl, undefined);
  const metricsPath = read("WEB_METRICS_PATH", parseMetricsPath, undefined);
  const config: Config = {
    production,
    secret: secret ?? (production ? new Uint8Array(0) : developmentSecret(options.projectDir)),
    previousSecrets: read("WEB_AUTH_SECRET_PREVIOUS", (text) => parsePrevious(text, production), []),
    cookieSecure: read("WEB_COOKIE_SECURE", parseBoolean, false),
    ...(csrfSecret ? { csrfSecret } : {}),
    origins: read("WEB_ORIGIN", parseOrigins, []),
    trustProxy: read("WEB_TRUST_PROXY", (text) => parseInteger(text, 0, 16), 0),
    ...(busUrl === undefined ? {} : { busUrl }),
    maxStreamsPerClient: read("WEB_MAX_STREAMS_PER_CLIENT", (text) => parseInteger(text, 1, 1_000_000), 100),
    ...(metricsPath === undefined ? {} : { metricsPath }),
    host: read("HOST", parseHost, production ? "0.0.0.0" : "127.0.0.1"),
    port: read("PORT", (text) => parseInteger(text, 0, 65_535), 3000),
    workers: read("WEB_WORKERS", (text) => parseInteger(text, 1, 256), 1),
  };
  if (production && !env.WEB_AUTH_SECRET) problems.push(missingSecret(options.built && !env.WEB_ENV));
  if (config.workers > 1 && !env.WEB_BUS_URL) problems.push(WORKERS_WITHOUT_BUS);
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

function missingSecret(byBuild: boolean): ConfigProblem {
  const because = byBuild ? " (whatever is built is production unless WEB_ENV=development)" : "";
  return {
    variable: "WEB_AUTH_SECRET",
    problem: `is not set, and production needs it${because}.`,
    fix: MAKE_A_SECRET,
  };
}

const WORKERS_WITHOUT_BUS: ConfigProblem = {
  variable: "WEB_WORKERS",
  problem: "is more than 1, but the processes share no bus: a message published in one would not reach the others.",
  fix: "Set WEB_BUS_URL (redis://… or nats://…), or serve with one process.",
};

function parseMode(text: string): boolean {
  if (text === "production") return true;
  if (text === "development") return false;
  throw new Unusable(`is ${shown(text)}.`, 'Set it to "production" or "development", or leave it out.');
}

function parseBoolean(text: string): boolean {
  if (text === "1") return true;
  if (text === "0") return false;
  throw new Unusable(`is ${shown(text)}.`, "Set it to 1 for on; 0, or leaving it out, is off.");
}

function parseInteger(text: string, least: number, most: number): number {
  const value = /^(0|[1-9][0-9]{0,6})$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Unusable(`is ${shown(text)}.`, `Set it to a whole number from ${least} to ${most}.`);
}

/** A secret's text never gets into a message: what goes there is its length and no more. */
function parseSecret(text: string, production: boolean): Uint8Array {
  if (!/^[0-9a-fA-F]*$/.test(text)) {
    throw new Unusable("holds a character that is not a hexadecimal digit.", MAKE_A_SECRET);
  }
  if (text.length !== SECRET_BYTES * 2) {
    throw new Unusable(`has ${text.length} hexadecimal digits, and needs ${SECRET_BYTES * 2}.`, MAKE_A_SECRET);
  }
  const secret = new Uint8Array(Buffer.from(text, "hex"));
  if (production && isGuessable(secret)) {
    throw new Unusable("is not random: it repeats itself, or counts.", MAKE_A_SECRET);
  }
  return secret;
}

/**
 * Answers whether a secret is one that somebody typed: one byte over and over, a short pattern
 * repeated, a row that counts. Of 32 random bytes none is, but for one chance in 2^100.
 */
function isGuessable(secret: Uint8Array): boolean {
  const step = (secret[1] ?? 0) - (secret[0] ?? 0);
  const counts = secret.every((byte, i) => i === 0 || ((byte - (secret[i - 1] ?? 0) - step) & 0xff) === 0);
  const repeats = (period: number) => secret.every((byte, i) => i < period || byte === secret[i - period]);
  return counts || new Set(secret).size < 8 || Array.from({ length: 16 }, (_, i) => i + 1).some(repeats);
}

function parsePrevious(text: string, production: boolean): readonly Uint8Array[] {
  const items = text.split(",").map((item) => item.trim());
  if (items.length > MAX_PREVIOUS_SECRETS) {
    throw new Unusable(
      `lists ${items.length} secrets; each is tried on every cookie that does not verify.`,
      `Keep ${MAX_PREVIOUS_SECRETS} at most: those less than a session's 7 days old.`,
    );
  }
  return items.map((item, i) => {
    try {
      return parseSecret(item, production);
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      throw new Unusable(
        `(secret ${i + 1} of ${items.length}) ${error.problem}`,
        "Give secrets that WEB_AUTH_SECRET had before, 64 hexadecimal digits each, between commas.",
      );
    }
  });
}

function parseOrigins(text: string): readonly string[] {
  return [...new Set(text.split(",").map((item) => parseOrigin(item.trim())))];
}

/** An origin as browsers write it. Whatever else an address can hold would never match, so it is refused. */
function parseOrigin(text: string): string {
  const url = /^https?:\/\/[^\s\\*]+$/i.test(text) && URL.canParse(text) ? new URL(text) : null;
  // The href has all that was given: credentials, a path, a query, even an empty one.
  if (url && url.href === `${url.origin}/`) return url.origin;
  const what = text.includes("@") ? "holds a name or password" : `holds ${shown(text)}, which is not a bare origin`;
  throw new Unusable(`${what}.`, "Give origins between commas: https://shop.example,https://www.shop.example");
}

/** Its text never gets into a message: it may hold a password. */
function parseBusUrl(text: string): string {
  const url = /^(redis|rediss|nats|tls):\/\/[^\s]+$/.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url && url.hostname !== "") return text;
  throw new Unusable(
    "is not the address of a bus (it is not shown here, since it may hold a password).",
    "Give redis://host:6379, rediss://…, nats://host:4222 or tls://….",
  );
}

function parseMetricsPath(text: string): string {
  const usable = text.length <= 200 && /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(text);
  const taken = /^\/(__web|healthz|readyz)(\/|$)/.test(text);
  if (usable && !taken) return text;
  throw new Unusable(`is ${shown(text)}, ${taken ? "which is taken" : "which is not a plain path"}.`, "Say /metrics.");
}

function parseHost(text: string): string {
  if (isIP(text) !== 0) return text;
  const label = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
  // All digits and dots would be an IPv4 address with a slip in it.
  const name = new RegExp(`^(?=.{1,253}$)${label}(\\.${label})*$`).test(text) && !/^[0-9.]+$/.test(text);
  if (name) return text;
  throw new Unusable(
    `is ${shown(text)}.`,
    "Give an address or a host name, without scheme, port or brackets: 0.0.0.0, 127.0.0.1, ::1, localhost.",
  );
}

/** A value in a message, cut short and with control characters escaped: it lands on a terminal. */
function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/**
 * Makes the key of development from the machine, the user and the project: the same after a
 * restart, so that nobody is signed out by an edit, and another in every project. It can be
 * guessed, which is why production does not take it.
 */
function developmentSecret(projectDir: string): Uint8Array {
  const facts = JSON.stringify([hostname(), machineId(), userName(), resolve(projectDir)]);
  return new Uint8Array(hkdfSync("sha256", facts, "tsweb", "development key", SECRET_BYTES));
}

function machineId(): string {
  try {
    return readFileSync("/etc/machine-id", "utf8").trim();
  } catch {
    return ""; // Not every system has one; what else is known has to do.
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? ""); // A container's user may have no name.
  }
}
