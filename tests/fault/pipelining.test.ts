/**
 * Clients that send requests ahead on connections whose response does not end. `npm run torture -- requests` makes all attacks on
 * every host, for longer.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { callFunction } from "#test/call-function";
import { createCertificate } from "#test/certificate";
import { buildLiveApp } from "#test/live-app";
import { type RunningServer, startDev, startNode } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";

const { TORTURE_SIZE } = process.env;

const MIB = 1024 * 1024;
const CONNECTIONS = 500;
const MAX_USED_BYTES = 64 * MIB;
/** The heap of the server, in MB. Node 24 collects garbage later, and ended with 128 in one of four runs on a busy machine. */
const HEAP_MB = Number.parseInt(process.versions.node, 10) >= 24 ? 160 : 128;
const IS_FULL = TORTURE_SIZE === "full";
/**
 * How often the memory is measured, or a function is called, during an attack. Between two of them, the server reads every connection
 * once at least: without the limits, the attacks need fewer rounds than that to exceed the memory.
 */
const SAMPLES = IS_FULL ? 60 : 5;
const CALLS = IS_FULL ? 80 : 12;
const PAUSE_MS = 150;

/** Without a proxy, a client is known by its own address. */
const ENV = { ...sharedEnv(), WEB_TRUST_PROXY: "0" };

let project: TestProject;

beforeAll(async () => {
  project = await buildLiveApp();
});

afterAll(() => project?.remove());

const HOST = "Host: 127.0.0.1\r\n";

/** Returns requests to a function, each of 16 KB. */
function posts({ count, headers = "", body = "x".repeat(16_000) }: Partial<PostOptions> & { count: number }): Buffer {
  const head = `POST /__web/rpc/pid HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n${headers}`;
  return Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(count));
}

interface PostOptions {
  readonly headers: string;
  readonly body: string;
}

/** As many different headers as have a size of 16 KB. */
const MANY_HEADERS = Array.from({ length: 990 }, (_, n) => `x${n}: ${"y".repeat(8)}\r\n`).join("");

/** A body of a byte in each chunk. It is longer than what is read ahead of a connection. */
const SMALL_CHUNKS = Buffer.from(
  `POST /__web/rpc/pid HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(20_000)}0\r\n\r\n`,
);

const LIVE = "/__web/live?";
/** Without `wait`, a poll ends at once. */
const POLL = "/__web/poll?wait=20&";

interface Attack {
  readonly title: string;
  readonly path: string;
  /** What each connection sends behind its request of the path. */
  readonly ahead: Buffer;
  /** The address of the client: one that opens more than 600 event streams and polls in a minute is refused. */
  readonly from: string;
  /** How many connections there are; {@link CONNECTIONS} by default. */
  readonly connections?: number;
}

/**
 * Attacks with bodies, which are outside the heap. Each exceeds the memory at its size without its protection: the limits of all that
 * waits, and for small chunks, that the parts of a body are put together.
 */
const BODIES: readonly Attack[] = [
  { title: "20 posts of 16 KB behind event streams", path: LIVE, ahead: posts({ count: 20 }), from: "127.0.0.2" },
  {
    title: "40 posts of 16 KB behind polls",
    path: POLL,
    ahead: posts({ count: 40 }),
    connections: IS_FULL ? CONNECTIONS : 250,
    from: "127.0.0.3",
  },
  {
    title: "a body of a byte in each chunk behind event streams",
    path: LIVE,
    ahead: SMALL_CHUNKS,
    connections: IS_FULL ? CONNECTIONS : 50, // the server needs a µs for each chunk
    from: "127.0.0.5",
  },
];

/** Attacks with requests and their headers, which are in the heap. Without the limits of all that waits, they end a server. */
const HEADS: readonly Attack[] = [
  {
    title: "30 posts with 990 headers behind event streams",
    path: LIVE,
    ahead: posts({ count: 30, headers: MANY_HEADERS, body: "" }),
    from: "127.0.0.4",
  },
  {
    title: "500 requests without a header behind event streams",
    path: LIVE,
    ahead: Buffer.from(`GET / HTTP/1.1\r\n${HOST}\r\n`.repeat(500)),
    connections: IS_FULL ? CONNECTIONS : 100,
    from: "127.0.0.6",
  },
];

/** The attack on other hosts: what needs most memory in the heap. */
const HEADERS: Attack = {
  title: "99 posts with 990 headers behind event streams",
  path: LIVE,
  ahead: posts({ count: 99, headers: MANY_HEADERS, body: "" }),
  connections: IS_FULL ? CONNECTIONS : 150,
  from: "127.0.0.4",
};

/** A built server, whose garbage is collected when its heap is full. */
const BUILT_SERVER: Host = {
  title: "a built server",
  heapMb: HEAP_MB,
  start: (env) => startNode(project.dir, ["dist/server.mjs"], env),
};

/** The hosts of an application. Each shows the address at which functions are called, and the port to attack. */
const HOSTS: readonly Host[] = [
  { title: "node(app) in an HTTP server", heapMb: 512, start: (env) => startHost("http", env) },
  { title: "node(app) in an HTTPS server", heapMb: 512, isTls: true, start: (env) => startHost("https", env) },
  { title: "tsweb dev", heapMb: 512, start: (env) => startDev(project.dir, env) },
  // The tests below attack it in the short version, where the garbage is collected more often.
  ...(IS_FULL ? [BUILT_SERVER] : []),
];

interface Host {
  readonly title: string;
  readonly heapMb: number;
  readonly isTls?: true;
  start(env: Record<string, string>): Promise<RunningServer>;
}

/** A program that serves the application on a port for the functions of the test, and on one for the attack. */
const HOST_PROGRAM = `
  import { readFileSync } from "node:fs";
  import { node } from "tsweb/node";
  import app from "./dist/app.mjs";
  const { createServer } = await import("node:http");
  const attacked = await import("node:" + process.argv[2]);
  const files = { key: readFileSync("key.pem"), cert: readFileSync("certificate.pem") };
  await app.start();
  const server = createServer(node(app)).listen(0, "127.0.0.1");
  const target = attacked.createServer(process.argv[2] === "https" ? files : {}, node(app)).listen(0, "127.0.0.1", () => {
    console.log("attack " + target.address().port + " http://127.0.0.1:" + server.address().port);
  });
  process.once("SIGTERM", () => process.exit(0));`;

function startHost(kind: "http" | "https", env: Record<string, string>): Promise<RunningServer> {
  createCertificate(project.dir);
  project.write("host.mjs", HOST_PROGRAM);
  return startNode(project.dir, ["host.mjs", kind], env);
}

/** What an attack is made on. */
interface Target {
  readonly address: string;
  readonly port: number;
  readonly isTls?: boolean;
}

/** A connection of an attack. */
interface Attacker {
  readonly socket: Socket;
  /** Resolves with the beginning of the response. It is empty for a poll, which has no head until it ends. */
  readonly begun: Promise<string>;
}

/** Opens a connection that sends a request. */
function openAttack({ port, isTls }: Target, path: string, from: string): Attacker {
  const at = { port, host: "127.0.0.1", localAddress: from };
  const socket = isTls ? connectTls({ ...at, rejectUnauthorized: false }) : connect(at);
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\n${HOST}\r\n`);
  const begun = new Promise<string>((resolve) => {
    socket.once("data", (bytes) => resolve(String(bytes))).once("close", () => resolve("closed"));
    if (path.startsWith(POLL)) setTimeout(resolve, 500, "");
  });
  return { socket, begun };
}

/** Returns the resident memory of a process, in bytes. */
function memoryOf(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) * 1024;
}

/**
 * Returns how much memory a server uses at most in a while, garbage not included, in bytes. A greatest value in one sample
 * alone is left out: it is of the moment in which the server reads what all connections have sent.
 */
async function greatestUseOf({ address }: Target): Promise<number> {
  let max = 0;
  let previous = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const used = await callFunction<number>(address, "used_bytes");
    max = Math.max(max, Math.min(previous, used));
    previous = used;
    await pause(PAUSE_MS); // each measurement collects the garbage
  }
  return max;
}

/** Calls a server again and again for a while. Returns the ids of the processes that respond. */
async function pidsOf({ address }: Target): Promise<Set<number>> {
  const pids = new Set<number>();
  for (let calls = 0; calls < CALLS; calls++) {
    pids.add(await callFunction<number>(address, "pid"));
    await pause(PAUSE_MS);
  }
  return pids;
}

/**
 * Opens many connections whose responses do not end, sends requests ahead on all of them, and runs a function.
 */
async function attackDuring<T>(target: Target, attack: Omit<Attack, "title">, run: () => Promise<T>) {
  const { path, ahead, from, connections = CONNECTIONS } = attack;
  const [feed] = await callFunction<string[]>(target.address, "issue_feeds", { names: ["room"] });
  const attackers = Array.from({ length: connections }, () => openAttack(target, `${path}feed=${feed}`, from));
  try {
    // The requests wait behind a response that does not end: neither behind a refusal nor behind a poll that has ended.
    const beginning = path === POLL ? /^$/ : /^HTTP\/1\.1 200 /;
    const others = (await Promise.all(attackers.map(({ begun }) => begun))).filter((text) => !beginning.test(text));
    expect(others.slice(0, 3)).toEqual([]);
    for (const { socket } of attackers) socket.write(ahead);
    return await run();
  } finally {
    for (const { socket } of attackers) socket.destroy();
  }
}

/**
 * Lets a server handle calls with bodies of 16 KB, and then the connections of an attack that send nothing ahead: the memory that it
 * has for its usual load is not that of the attack.
 */
async function serveUsualLoad(target: Target): Promise<void> {
  const args = { args: {}, ignored: "x".repeat(16_000) };
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 20 }, () => callWith(target.address, args)));
  }
  for (const [path, from] of [
    [LIVE, "127.0.0.7"],
    [POLL, "127.0.0.8"],
  ] as const)
    await attackDuring(target, { path, ahead: Buffer.alloc(0), from }, () => pidsOf(target));
}

async function callWith(address: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${address}/__web/rpc/pid`, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
}

describe.each(HOSTS)("many connections of a client to $title", ({ heapMb, isTls = false, start }) => {
  it.each(IS_FULL ? [...BODIES, ...HEADS, HEADERS] : [HEADERS])(
    `do not end it with a heap of ${heapMb} MB, with $title [REQUEST-92]`,
    async (attack) => {
      const server = await start({ ...ENV, NODE_OPTIONS: `--max-old-space-size=${heapMb}` });
      try {
        const { address } = server;
        const [, attackPort] = /attack (\d+)/.exec(server.output()) ?? [];
        const target = { address, isTls, port: Number(attackPort ?? new URL(address).port) };
        const pid = await callFunction<number>(address, "pid");
        expect(await attackDuring(target, attack, () => pidsOf(target))).toEqual(new Set([pid]));
      } finally {
        await server.stop();
      }
    },
  );
});

describe("many connections of a client", () => {
  let server: AppProcess;
  /** What it uses before all attacks: what one has left would hide what the next one adds. */
  let before: number;
  beforeAll(async () => {
    server = await AppProcess.start(project.dir, ENV, ["--expose-gc", `--max-old-space-size=${HEAP_MB}`]);
    await serveUsualLoad(server);
    before = await callFunction<number>(server.address, "used_bytes");
  });
  afterAll(() => server?.stop());

  /** Checks the memory inside and outside the heap, and that no other process has taken its place. */
  async function expectLittleUse(attack: Attack): Promise<void> {
    const pid = await callFunction<number>(server.address, "pid");
    const residentBefore = memoryOf(pid);
    const used = (await attackDuring(server, attack, () => greatestUseOf(server))) - before;
    const resident = memoryOf(pid) - residentBefore;
    if (TORTURE_SIZE)
      console.log(`${attack.title}: ${[used, resident].map((bytes) => (bytes / MIB).toFixed(1))} MiB used, resident`);
    expect(used).toBeLessThan(MAX_USED_BYTES);
    expect(await callFunction<number>(server.address, "pid")).toBe(pid);
  }

  it.each(BODIES)("add at most 64 MiB to a server, with $title [REQUEST-67]", expectLittleUse);

  it.each(HEADS)(
    `add at most 64 MiB to a server with a heap of ${HEAP_MB} MB, and do not end it, with $title [REQUEST-68]`,
    expectLittleUse,
  );
});
