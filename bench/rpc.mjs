// Calls per second of one small function that returns its arguments: a string and a checked integer.
import { fileURLToPath } from "node:url";
import { buildApp, startApp } from "./lib/app.mjs";
import { browserHeaders, generator } from "./lib/load.mjs";
import { layout, startServer } from "./lib/processes.mjs";
import { measure, ratioTable } from "./lib/rounds.mjs";

const ARGS = { text: "The quick brown fox jumps over the lazy dog", n: 42 };

const call = (address, path, body, headers) => ({
  url: address + path,
  method: "POST",
  headers: { "content-type": "application/json", ...browserHeaders(address, headers) },
  body: JSON.stringify(body),
});

const tswebCall = (address, name, headers) => call(address, `/__web/rpc/${name}`, { args: ARGS }, headers);

/** Returns a contestant of `peers/`; `expected` is the JSON that its response must have. */
function peer(name, file, { path = "/echo", body = ARGS, expected }) {
  return {
    name,
    async open() {
      const server = await startServer([fileURLToPath(new URL(`peers/${file}.mjs`, import.meta.url))]);
      const target = call(server.address, path, body);
      await checkResponse(target, expected);
      return { target, pid: server.pid, end: server.end };
    },
  };
}

const tswebPublic = {
  name: "tsweb",
  async open() {
    const server = await startApp();
    const target = tswebCall(server.address, "echo");
    await checkResponse(target, { result: ARGS });
    await checkProtections(server.address);
    return { target, pid: server.pid, end: server.end };
  },
};

const tswebSignedIn = {
  name: "tsweb, signed in (`auth_required`)",
  async open() {
    const server = await startApp();
    const headers = await signIn(server.address);
    const target = tswebCall(server.address, "echo_signed_in", headers);
    await checkResponse(target, { result: ARGS });
    return { target, pid: server.pid, end: server.end };
  },
};

/** Signs in, and returns the headers of further calls: the cookie, and the CSRF token if there is one. */
async function signIn(address) {
  const request = call(address, "/__web/rpc/sign_in", { args: { email: "ada@example.org" } });
  const response = await fetch(request.url, request);
  const cookie = response.headers.getSetCookie()[0]?.split(";")[0];
  if (!response.ok || !cookie) throw new Error(`sign_in responded with ${response.status} and without a cookie.`);
  const token = response.headers.get("x-csrf-token");
  return token ? { cookie, "x-csrf-token": token } : { cookie };
}

/** Checks that a contestant does the same work as the others. */
async function checkResponse(target, expected) {
  const response = await fetch(target.url, target);
  const text = await response.text();
  if (response.ok && JSON.stringify(JSON.parse(text)) === JSON.stringify(expected)) return;
  throw new Error(`${target.url} responded with ${response.status} ${text}`);
}

/** Checks that the protections of tsweb are on while it is measured. */
async function checkProtections(address) {
  const status = async (target) => (await fetch(target.url, target)).status;
  const statuses = [
    await status(tswebCall(address, "echo", { origin: "https://elsewhere.example" })),
    await status(call(address, "/__web/rpc/echo", { args: { ...ARGS, n: "three" } })),
    await status(tswebCall(address, "echo_signed_in")),
  ];
  if (statuses.join() !== "403,422,401")
    throw new Error(`Protections are off: ${statuses.join()} instead of 403,422,401.`);
}

const contestants = [
  peer("bare `node:http`", "bare", { expected: ARGS }),
  tswebPublic,
  tswebSignedIn,
  peer("Fastify + schema", "fastify", { expected: { result: ARGS } }),
  peer("Hono + zod", "hono", { expected: { result: ARGS } }),
  peer("oRPC + zod", "orpc", { body: { json: ARGS }, expected: { json: ARGS } }),
  peer("tRPC + zod", "trpc", { expected: { result: { data: ARGS } } }),
];

/** @param only a part of the names to measure; the bare server is always measured */
export async function rpc({ rounds = 5, seconds = 1, connections = 32, warmUp = 2, only = "" } = {}) {
  buildApp();
  const selected = contestants.filter(({ name }, i) => i === 0 || name.toLowerCase().includes(only));
  const rows = await measure(selected, { rounds, seconds, connections, warmUp });
  const how = `${rounds} rounds of ${seconds} s, ${connections} connections, load by ${generator}, ${layout}.`;
  return `## Calls\n\n${how}\n\n${ratioTable(rows, "calls")}`;
}
