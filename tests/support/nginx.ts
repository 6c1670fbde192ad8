/**
 * An nginx of a test's own: on a free port of this machine, in a folder of its own, to be killed, told to
 * read its configuration anew, and started again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startOnFreePort } from "./free-port.ts";
import { OwnFolder } from "./own-folder.ts";
import { ENVIRONMENT, OwnProcess } from "./own-process.ts";

/** What it does with what it is asked. */
export interface NginxSetup {
  /** The ports of the servers behind it, asked in turn. */
  readonly ports: readonly number[];
  /** Compresses all that browsers take compressed, event streams among it. */
  readonly gzip?: boolean;
  /** Answers event streams itself: with a page that says no. */
  readonly refusesStreams?: boolean;
}

/** An nginx that runs, or did. */
export class Nginx {
  readonly port: number;
  readonly #folder = new OwnFolder("nginx");
  readonly #process = new OwnProcess(killGroup);
  readonly #setup: NginxSetup;

  private constructor(port: number, setup: NginxSetup) {
    this.port = port;
    this.#setup = setup;
  }

  /** Starts one, and waits until it takes connections. */
  static start(setup: NginxSetup): Promise<Nginx> {
    return startOnFreePort((port) => new Nginx(port, setup));
  }

  /** As `http://127.0.0.1:43121`. */
  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts it again on the same port. */
  async restart(): Promise<void> {
    writeFileSync(this.#file("nginx.conf"), this.#configuration());
    // A group of its own: the process that answers outlives the one that looks after it.
    const child = spawn(
      "nginx",
      ["-p", this.#folder.path, "-e", this.#file("error.log"), "-c", this.#file("nginx.conf")],
      {
        stdio: "ignore",
        detached: true,
        env: ENVIRONMENT,
      },
    );
    this.#process.become(child);
    await this.#ready(child);
  }

  /** Ends all of it there and then, as a crash would. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  /** Has it begin anew as it does when its configuration changes: it closes what is open within a second. */
  reload(): void {
    this.#process.signal("SIGHUP");
  }

  /** Ends it, and deletes what it kept. */
  async stop(): Promise<void> {
    await this.kill();
    this.#folder.remove();
  }

  #file(name: string): string {
    return join(this.#folder.path, name);
  }

  /** Waits until it takes connections. */
  async #ready(child: ChildProcess): Promise<void> {
    let failed: Error | undefined;
    child.once("error", (error) => {
      failed = new Error("nginx could not be started.", { cause: error });
    });
    while (!(await isOpen(this.port))) {
      if (failed) throw failed;
      if (child.exitCode !== null) throw new Error(`nginx ended:\n${readFileSync(this.#file("error.log"), "utf8")}`);
      await pause(5);
    }
  }

  #configuration(): string {
    const { ports, gzip = false, refusesStreams = false } = this.#setup;
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    return `daemon off;
${process.getuid?.() === 0 ? "user root;" : ""}
pid ${this.#file("pid")};
worker_processes 1;
worker_shutdown_timeout 1s;
events { worker_connections 4096; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${this.#file(name)};`).join("\n  ")}
  ${gzip ? "gzip on; gzip_types *; gzip_min_length 0; gzip_proxied any;" : ""}
  upstream application {
    ${ports.map((port) => `server 127.0.0.1:${port} max_fails=0;`).join("\n    ")}
  }
  server {
    listen 127.0.0.1:${this.port};
    location / {
      proxy_pass http://application;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
    ${refusesStreams ? "location /__web/live { return 406; }" : ""}
  }
}
`;
  }
}

/** Kills a process and all that it started. */
function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, "SIGKILL");
}

function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  }).then((isThere) => {
    socket.destroy();
    return isThere === true;
  });
}
