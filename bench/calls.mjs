// Calls per second of one function that returns its arguments: a text and a checked integer. Each framework is measured
// as its documentation begins, and with the official plugins for what tsweb does by default.
import { checkLimit, checkProtections, checkResult, checkValidation, TESTED_LIMIT } from "./calls/checks.mjs";
import { bare, contestants, tsweb } from "./calls/contestants.mjs";
import { callOf } from "./calls/target.mjs";
import { buildApp } from "./lib/app.mjs";
import { buildTelefunc } from "./lib/builds.mjs";
import { generator } from "./lib/load.mjs";
import { spread, table } from "./lib/numbers.mjs";
import { layout } from "./lib/processes.mjs";
import { efficiency, measure, ratioTable } from "./lib/rounds.mjs";

const SMALL = { text: "The quick brown fox jumps over the lazy dog", n: 42 };
const KIB = 1024;

const argsOf = (bytes) => ({ text: "x".repeat(bytes), n: 42 });

/**
 * @param options `rounds`, `seconds`, `warmUp`, `connections`; `only`: a part of the names to measure, beside the bare
 *   server and tsweb; `nodes`: the versions of Node to measure with; `sizes`: the further bodies, in KiB; `sizeRounds`
 */
export async function calls({ nodes, only = "", ...options }) {
  buildApp();
  buildTelefunc();
  const isSelected = ({ name }) => [bare.name, tsweb.name].includes(name) || name.toLowerCase().includes(only);
  const selected = contestants.filter(isSelected);
  const sections = [];
  for (const [index, node] of nodes.entries()) {
    // The further bodies are measured with the first version only.
    const sizes = index === 0 ? options.sizes : [];
    sections.push(`### Node ${node.version}\n\n${await measureWith(node, selected, { ...options, sizes })}`);
  }
  const { rounds, seconds, connections } = options;
  return [
    "## Calls",
    `${rounds} rounds of ${seconds} s in alternating order, ${connections} connections, load by ${generator}, ${layout}.`,
    PROTECTIONS,
    ...sections,
  ].join("\n\n");
}

const PROTECTIONS =
  "All but the bare server check their arguments. “Protected” means, as tsweb does by default: security headers, a request id, " +
  "a rate limit for each client, a check of the origin, and a session in a cookie. Each was verified before measuring. " +
  "“Signed in”: the call requires a session, and its cookie is verified. tsweb and the servers in Fastify also verify a CSRF " +
  "token then. tsweb and Fastify limit bodies to 1 MiB, and tsweb always sends a trace id.";

async function measureWith(node, selected, { sizes, sizeRounds, ...options }) {
  const servers = [];
  try {
    for (const contestant of selected) servers.push(await startChecked(contestant, node));
    const small = await measure(targets(servers, SMALL), options);
    const parts = [ratioTable(small, "calls", timesColumn(small))];
    const bodies = [];
    for (const size of sizes) {
      const args = argsOf(size * KIB);
      for (const server of servers) await checkResult(server, args);
      bodies.push(
        await measure(targets(servers, args, { isSignedIn: false }), { ...options, rounds: sizeRounds, warmUp: 1 }),
      );
    }
    if (bodies.length > 0) parts.push(bodyTable(sizes, bodies));
    return parts.join("\n\n");
  } finally {
    await Promise.all(servers.map(({ end }) => end()));
  }
}

/** Starts a server, and checks what it does. A rate limit is checked on a server of its own with a low limit. */
async function startChecked(contestant, node) {
  if (contestant.isProtected) {
    const limited = await contestant.start({ env: { BENCH_CALL_LIMIT: String(TESTED_LIMIT) }, node: node.path });
    await checkLimit({ ...contestant, ...limited }).finally(limited.end);
  }
  const server = { ...contestant, ...(await contestant.start({ env: {}, node: node.path })) };
  await checkResult(server, SMALL);
  if (contestant !== bare) await checkValidation(server);
  return contestant.isProtected ? { ...server, headers: await checkProtections(server) } : server;
}

function targets(servers, args, { isSignedIn = true } = {}) {
  const anonymous = servers.map((server) => ({ ...server, target: callOf(server, args), kind: kindOf(server) }));
  if (!isSignedIn) return anonymous;
  const signedIn = servers
    .filter(({ isProtected }) => isProtected)
    .map((server) => ({
      ...server,
      name: `${server.name}, signed in`,
      target: callOf(server, args, { isSignedIn: true, headers: server.headers }),
      kind: "signedIn",
    }));
  return [...anonymous, ...signedIn];
}

const kindOf = ({ isProtected }) => (isProtected ? "protected" : "plain");

/** Compares tsweb with the peers that have the same protections on. */
function timesColumn(rows) {
  const own = { protected: rows.find(({ name }) => name === tsweb.name) };
  own.signedIn = rows.find(({ name }) => name === `${tsweb.name}, signed in`);
  const cell = (row) =>
    row.kind === "plain" || row === own[row.kind] ? "" : spread(efficiency(own[row.kind], row), 1);
  return { head: "tsweb is … times as fast, by CPU time", cell };
}

function bodyTable(sizes, bodies) {
  const cells = bodies[0].map(({ name }, i) => [name, ...bodies.map((rows) => spread(efficiency(rows[i], rows[0])))]);
  return `Of the bare server by CPU time, by the length of the text:\n\n${table(["", ...sizes.map((size) => `${size} KiB`)], cells)}`;
}
