/**
 * An nginx for a test, as a proxy in front of an application or as a file server: on a free port, in a temporary folder. It can be killed,
 * reloaded and restarted.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Certificate } from "./certificate.ts";
import { nginxMainLines, nginxSite } from "./deploy-files.ts";
import { startOnFreePort } from "./free-port.ts";
import { PROGRAM_ENVIRONMENT, ProgramProcess } from "./program-process.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

/** The configuration of an nginx. */
export interface NginxOptions {
  /** The ports of the upstream servers, used round-robin. */
  readonly ports: readonly number[];
  /** Compresses all responses if the client accepts it, also event streams. */
  readonly gzip?: boolean;
  /** Returns the configuration of the site on a port, in place of a proxy. */
  readonly site?: (port: number) => string;
  /** Uses the recipe of `deploy/` in place of a minimal configuration. */
  readonly usesRecipe?: boolean;
  /** The connections of the worker process. By default those of the recipe. */
  readonly workerConnections?: number;
  /** Serves HTTPS and HTTP/2 with this certificate, with `usesRecipe`. */
  readonly certificate?: Certificate;
  /** Responds to requests for event streams itself, with 406 and an HTML page. */
  readonly rejectsStreams?: boolean;
}

/** An nginx process. */
export class Nginx {
  readonly port: number;
  readonly #folder = new TemporaryFolder("nginx");
  readonly #process = new ProgramProcess(killGroup);
  readonly #options: NginxOptions;

  private constructor(port: number, options: NginxOptions) {
    this.port = port;
    this.#options = options;
  }

  /** Starts an nginx, and waits until it accepts connections. */
  static start(options: NginxOptions): Promise<Nginx> {
    return startOnFreePort((port) => new Nginx(port, options));
  }

  /** The base URL, for example `http://127.0.0.1:43121`. */
  get address(): string {
    return `http${this.#options.certificate ? "s" : ""}://127.0.0.1:${this.port}`;
  }

  /** Starts the process again on the same port. */
  async restart(): Promise<void> {
    writeFileSync(this.#file("nginx.conf"), this.#configuration());
    // A process group, because the worker process outlives a killed master process.
    const child = spawn(
      "nginx",
      ["-p", this.#folder.path, "-e", this.#file("error.log"), "-c", this.#file("nginx.conf")],
      {
        stdio: "ignore",
        detached: true,
        env: PROGRAM_ENVIRONMENT,
      },
    );
    this.#process.setChild(child);
    await this.#waitUntilReady(child);
  }

  /** Kills master and worker processes with SIGKILL. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  /** Reloads the configuration. Open connections are closed within a second. */
  reload(): void {
    this.#process.signal("SIGHUP");
  }

  /** Kills the processes and deletes the folder. */
  async stop(): Promise<void> {
    await this.kill();
    this.#folder.remove();
  }

  #file(name: string): string {
    return join(this.#folder.path, name);
  }

  /** Waits until the port accepts connections. */
  async #waitUntilReady(child: ChildProcess): Promise<void> {
    let failed: Error | undefined;
    child.once("error", (error) => {
      failed = new Error("nginx could not be started.", { cause: error });
    });
    while (!(await acceptsConnections(this.port))) {
      if (failed) throw failed;
      if (child.exitCode !== null) throw new Error(`nginx exited:\n${readFileSync(this.#file("error.log"), "utf8")}`);
      await pause(5);
    }
  }

  #configuration(): string {
    const { ports, gzip = false, workerConnections } = this.#options;
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    return `daemon off;
${process.getuid?.() === 0 ? "user root;" : ""}
pid ${this.#file("pid")};
worker_processes 1;
worker_shutdown_timeout 1s;
${workerConnections === undefined ? nginxMainLines() : `events { worker_connections ${workerConnections}; }`}
http {
  access_log off;
  ${this.#options.certificate ? "keepalive_timeout 1h; # a session may be idle for long on a busy machine" : ""}
  ${temporary.map((name) => `${name}_temp_path ${this.#file(name)};`).join("\n  ")}
  ${gzip ? "gzip on; gzip_types *; gzip_min_length 0; gzip_proxied any;" : ""}
  ${this.#options.usesRecipe ? nginxSite({ ...this.#options, port: this.port, upstreams: ports }) : this.#minimalSite()}
}
`;
  }

  #minimalSite(): string {
    const { ports, site, rejectsStreams = false } = this.#options;
    if (site) return site(this.port);
    return `upstream application {
    ${ports.map((port) => `server 127.0.0.1:${port} max_fails=0;`).join("\n    ")}
  }
  server {
    listen 127.0.0.1:${this.port};
    location / {
      proxy_pass http://application;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
    ${rejectsStreams ? "location /__web/live { return 406; }" : ""}
  }`;
  }
}

/** Kills a process and its children. */
function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, "SIGKILL");
}

function acceptsConnections(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  }).then((isAccepted) => {
    socket.destroy();
    return isAccepted;
  });
}
