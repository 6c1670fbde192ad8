import { ConfigError } from "../../config/index.ts";
import type { Logger } from "../../logging/index.ts";
import { DEFAULT_HOURS } from "./bus.ts";

/**
 * How long the server remembers a fingerprint after a process has stored it for the last time: as long as it stores
 * messages by default. Without a process for that time, nothing is left that another application could read.
 */
export const REMEMBER_FINGERPRINT_MS = DEFAULT_HOURS * 3_600_000;

/** How often a process stores its fingerprints again. */
const REFRESH_MS = 600_000;

/** The options of a {@link SecretsCheck}. */
export interface SecretsCheckOptions {
  readonly namespace: string;
  /** How to delete the record, for the message. */
  readonly deleteCommand: string;
  readonly log: Logger;
  /**
   * Stores fingerprints in the namespace, unless other ones are stored there and none of these.
   *
   * @returns whether they are stored
   */
  store(fingerprints: readonly string[]): Promise<boolean>;
}

/**
 * Keeps two applications from using one namespace by mistake: the server stores fingerprints of the secrets of the
 * processes that use the namespace, and a process that shares none of them does not use the bus.
 *
 * Fingerprints of earlier secrets stay stored while a process uses them, and {@link REMEMBER_FINGERPRINT_MS} after
 * that. So a process with a new secret is accepted if it lists a previous one, in any number of deployments.
 */
export class SecretsCheck {
  readonly #options: SecretsCheckOptions;
  /** Those of all applications of this process that use the bus. */
  readonly #fingerprints = new Set<string>();
  #refreshTimer: NodeJS.Timeout | undefined;
  #hasLoggedRefusal = false;

  constructor(options: SecretsCheckOptions) {
    this.#options = options;
  }

  /** Adds fingerprints. @returns whether any of them is new, so that the check has to run again */
  add(fingerprints: readonly string[]): boolean {
    const { size } = this.#fingerprints;
    for (const fingerprint of fingerprints) this.#fingerprints.add(fingerprint);
    return this.#fingerprints.size > size;
  }

  /**
   * Stores the fingerprints. Without any, for example in a script that has no application, nothing is checked.
   *
   * @throws ConfigError if another application uses the namespace; Error if the server is unreachable
   */
  async run(): Promise<void> {
    if (this.#fingerprints.size === 0) return;
    if (!(await this.#options.store([...this.#fingerprints]))) throw this.#refusal();
    this.#refreshTimer ??= setInterval(() => void this.#refresh(), REFRESH_MS).unref();
  }

  /** Stops storing fingerprints. */
  close(): void {
    clearInterval(this.#refreshTimer);
  }

  /** Never rejects. A process that serves already is not stopped by a record that was deleted or replaced. */
  async #refresh(): Promise<void> {
    try {
      if ((await this.#options.store([...this.#fingerprints])) || this.#hasLoggedRefusal) return;
      this.#hasLoggedRefusal = true;
      this.#options.log.error({ namespace: this.#options.namespace }, this.#refusal().message);
    } catch {
      // The bus is unreachable, which is logged, or the next operation rejects with the same error.
    }
  }

  #refusal(): ConfigError {
    const { namespace, deleteCommand } = this.#options;
    return new ConfigError([
      {
        variable: "WEB_BUS_URL",
        problem:
          `is a bus on which another application uses the namespace "${namespace}": it has none of the secrets ` +
          "of this process (WEB_AUTH_SECRET, WEB_AUTH_SECRET_PREVIOUS).",
        fix:
          "If it is another application, choose another namespace: end the URL with ?namespace=, or change the name in " +
          "package.json. If it is this application, use the WEB_AUTH_SECRET of its other processes, or list the replaced " +
          `secret in WEB_AUTH_SECRET_PREVIOUS. To give the replaced secret up at once: ${deleteCommand}`,
      },
    ]);
  }
}
