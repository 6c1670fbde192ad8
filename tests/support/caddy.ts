/**
 * A Caddy for a test, with the recipe of `deploy/`, on a free port and in a temporary folder.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { caddySite } from "./deploy-files.ts";
import { startOnFreePort } from "./free-port.ts";
import { ProgramProcess, waitForOutput } from "./program-process.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

/** A Caddy process in front of an application. */
export class Caddy {
  readonly port: number;
  readonly #upstreams: readonly number[];
  readonly #folder = new TemporaryFolder("caddy");
  readonly #process = new ProgramProcess();

  private constructor(port: number, upstreams: readonly number[]) {
    this.port = port;
    this.#upstreams = upstreams;
  }

  /** Starts a Caddy in front of the processes on these ports. The caller has to stop it. */
  static start({ ports }: { readonly ports: readonly number[] }): Promise<Caddy> {
    return startOnFreePort((port) => new Caddy(port, ports));
  }

  /** The base URL, for example `http://127.0.0.1:43121`. */
  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts the process, and waits until it serves. */
  async restart(): Promise<void> {
    const { path } = this.#folder;
    const file = join(path, "Caddyfile");
    writeFileSync(file, caddySite(this.port));
    // Caddy stores its state in the home folder.
    const UPSTREAMS = this.#upstreams.map((port) => `127.0.0.1:${port}`).join(" ");
    const env = { ...process.env, UPSTREAMS, HOME: path, XDG_DATA_HOME: path, XDG_CONFIG_HOME: path };
    const child = spawn("caddy", ["run", "--config", file, "--adapter", "caddyfile"], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process.setChild(child);
    await waitForOutput(child, "serving initial configuration");
  }

  /** Kills the process and deletes the folder. */
  async stop(): Promise<void> {
    await this.#process.kill();
    this.#folder.remove();
  }
}
