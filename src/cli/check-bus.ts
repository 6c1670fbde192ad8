import { ConfigError, type ConfigProblem, type Environment, loadConfig, parseServerUrl } from "../config/index.ts";
import { openBus } from "../live/index.ts";
import { rotationWarnings } from "../session/index.ts";

/** The result of {@link checkBus}. */
export interface BusCheck {
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
  const config = configOf(env);
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

function configOf(env: Environment) {
  try {
    return loadConfig({ ...env, WEB_ENV: "production" }, CHECKED_AS);
  } catch (error) {
    if (error instanceof ConfigError) return undefined; // its problems are reported by productionProblems
    throw error;
  }
}

/** How the check reads the environment: as a built application that may install a bus itself. */
export const CHECKED_AS = { built: true, projectDir: process.cwd(), hasSharedBus: true } as const;
