// Servers that are no Node programs: nginx, Redis and NATS. Each has a temporary folder and a free port.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { installPrograms, programs } from "../../scripts/programs.mjs";
import { killAtExit, pinned } from "./processes.mjs";

const START_MS = 20_000;

/** The file of the module in Debian's package. */
const NCHAN_MODULE = "/usr/lib/nginx/modules/ngx_nchan_module.so";

/** Installs the buses, and nginx with nchan on Debian. Returns whether nchan is there. */
export function installLivePrograms() {
  installPrograms([programs.redis, programs.nats, programs.nginx]);
  const mayInstall = process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
  if (!existsSync(NCHAN_MODULE) && mayInstall)
    spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "libnginx-mod-nchan"], {
      stdio: "ignore",
    });
  return existsSync(NCHAN_MODULE);
}

/** Starts nginx with nchan. Its pid is that of the worker process, which has the connections. */
export async function startNchan({ files }) {
  // nginx closes connections that have not sent a request yet when fewer than a sixteenth of `worker_connections` are free.
  const server = await startNginx("live/nchan.conf", { module: NCHAN_MODULE, files, connections: files * 2 });
  let worker = "";
  while (worker === "") {
    worker = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim();
    await sleep(5);
  }
  return { ...server, pid: Number(worker), address: `http://127.0.0.1:${server.port}` };
}

/**
 * Starts nginx with a configuration of the peers.
 *
 * @param values the words that the configuration has in braces, besides `folder`, `port` and `user`
 */
export function startNginx(configuration, values) {
  const template = readFileSync(fileURLToPath(new URL(`../peers/${configuration}`, import.meta.url)), "utf8");
  return start("nginx", (folder, port) => {
    const user = process.getuid?.() === 0 ? "user root;" : "";
    const words = { ...values, folder, port, user };
    const config = join(folder, "nginx.conf");
    writeFileSync(
      config,
      template.replace(/\{(\w+)\}/g, (all, name) => String(words[name] ?? all)),
    );
    return ["-p", folder, "-e", join(folder, "error.log"), "-c", config];
  });
}

/** Starts a bus, with the settings that docs/production.md recommends. It may use both cores, as on another machine. */
export const startBus = {
  redis: async () => {
    const server = await start(
      "redis-server",
      (folder, port) =>
        [
          ...["--port", port, "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "yes"],
          ...["--maxmemory-policy", "noeviction", "--loglevel", "warning"],
        ].map(String),
      null,
    );
    return { ...server, url: `redis://127.0.0.1:${server.port}` };
  },
  nats: async () => {
    const server = await start(
      "nats-server",
      (folder, port) => ["--addr", "127.0.0.1", "--port", String(port), "--jetstream", "--store_dir", folder],
      null,
    );
    return { ...server, url: `nats://127.0.0.1:${server.port}` };
  },
};

async function start(program, argsOf, core = 0) {
  const folder = mkdtempSync(join(tmpdir(), `tsweb-bench-${program}-`));
  const port = await freePort();
  const [command, args] = pinned(core, program, argsOf(folder, port));
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
  const child = spawn(command, args, { stdio: "ignore", env });
  killAtExit(child);
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      const deadline = setTimeout(() => child.kill("SIGKILL"), 2_000);
      await exited;
      clearTimeout(deadline);
    }
    rmSync(folder, { recursive: true, force: true });
  };
  await accepts(port, program, child);
  return { port, pid: child.pid, end };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function accepts(port, program, child) {
  const deadline = Date.now() + START_MS;
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise((resolve) =>
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false)),
    );
    socket.destroy();
    if (isOpen) return;
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${program} did not start.`);
    await sleep(20);
  }
}
