// The gain of each fast way of src/adapters/fast, for a whole call and a whole page: the same server without it, by CPU time.
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { FORMS } from "./calls/forms.mjs";
import { callOf } from "./calls/target.mjs";
import { buildApp, startApp } from "./lib/app.mjs";
import { browserHeaders } from "./lib/load.mjs";
import { median, table } from "./lib/numbers.mjs";

/** What is left out, as `TSWEB_ORDINARY_HTTP`. Messages that many receive are measured by `npm run bench -- live`. */
const WAYS = ["heads", "requests", "headers", "texts", "writes", "idle", "all"];

const KINDS = {
  calls: ({ address }) => callOf({ address, form: FORMS.tsweb }, { text: "hello", n: 42 }),
  pages: ({ address }) => ({ url: `${address}/table`, method: "GET", headers: browserHeaders(address) }),
};

/** The requests of each server in a round: so few that other work of the machine affects all of them equally. */
const REQUESTS = { calls: 1_000, pages: 300 };

/** The rounds until V8 has optimized what runs. */
const WARM_UP_ROUNDS = 8;

/** @param options `nodes`: the versions of Node to measure with; `rounds`; `connections`; `only`: the name of a way */
export async function fast({ nodes, only, ...options }) {
  buildApp();
  const ways = WAYS.filter((name) => only === undefined || only === name);
  const sections = [];
  for (const node of nodes)
    for (const kind of Object.keys(KINDS)) sections.push(await measureKind({ node, kind, ways, ...options }));
  return ["## Fast ways", DESCRIPTION, ...sections].join("\n\n");
}

const DESCRIPTION =
  "The CPU time that a server needs more without a way, in percent of a call or page with all of them: the median of the rounds, " +
  "with the first and third quartile.";

async function measureKind({ node, kind, ways, rounds, connections }) {
  const servers = [];
  try {
    for (const name of ["", ...ways]) {
      const server = await startApp({ node: node.path, env: { TSWEB_ORDINARY_HTTP: name } });
      servers.push({ ...server, name, client: await openClient(KINDS[kind](server), connections), micros: [] });
    }
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        const before = cpuMicros(server.pid);
        await server.client.send(REQUESTS[kind]);
        if (round >= 0) server.micros.push((cpuMicros(server.pid) - before) / REQUESTS[kind]);
      }
    }
  } finally {
    for (const { client, end } of servers) {
      client.close();
      await end();
    }
  }
  const [base, ...others] = servers;
  const rows = others.map(({ name, micros }) => {
    const more = micros.map((each, round) => (each / base.micros[round] - 1) * 100).toSorted((a, b) => a - b);
    const at = (part) => more[Math.floor((more.length - 1) * part)].toFixed(1);
    return [`\`${name}\``, `${at(0.5)} (${at(0.25)}–${at(0.75)})`, median(micros).toFixed(1)];
  });
  const head = [`${kind}, Node ${node.version}`, "% more", "µs each"];
  return table(head, [["with all", "", median(base.micros).toFixed(1)], ...rows]);
}

/** Returns the CPU time of all threads of a process, in µs. */
function cpuMicros(pid) {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1_000;
}

/** Opens connections. `send` sends so many requests over them, each after the response to the one before on its connection. */
async function openClient({ url, method, headers, body = "" }, connections) {
  const { hostname, port, host, pathname } = new URL(url);
  const lines = Object.entries({ host, ...headers, ...(body ? { "content-length": Buffer.byteLength(body) } : {}) });
  const head = `${method} ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  const request = Buffer.from(head + body);
  const sockets = await Promise.all(Array.from({ length: connections }, () => opened(Number(port), hostname)));
  return {
    async send(count) {
      await Promise.all(
        sockets.map(async (socket, at) => {
          const own = Math.floor(count / connections) + (at < count % connections ? 1 : 0);
          for (let sent = 0; sent < own; sent++) await exchange(socket, request);
        }),
      );
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function opened(port, host) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => resolve(socket.setNoDelay(true).setEncoding("latin1")));
    socket.once("error", reject);
  });
}

/** Sends a request, and waits for the whole response, whose length is declared. */
function exchange(socket, request) {
  return new Promise((resolve, reject) => {
    let received = "";
    const onData = (chunk) => {
      received += chunk;
      const end = received.indexOf("\r\n\r\n");
      if (end === -1) return;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received.slice(0, end))?.[1]);
      if (received.length < end + 4 + length) return;
      socket.off("data", onData);
      if (received.startsWith("HTTP/1.1 200")) resolve();
      else reject(new Error(`The response is ${received.slice(0, 200)}`));
    };
    socket.on("data", onData).write(request);
  });
}
