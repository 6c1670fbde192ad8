import { basename } from "node:path";
import type { ConfigEnv, Plugin, UserConfig } from "vite";
import { closestName } from "../../text/index.ts";

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
