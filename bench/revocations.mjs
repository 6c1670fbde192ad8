// What revocations cost: the memory of those that a process has read, and the processor time of a call that reads the session.
import { randomBytes } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { App, server, session } from "../dist/index.js";
import { RevocationLog } from "../dist/revocation/log.js";
import { RevokedSubjects } from "../dist/revocation/revoked-subjects.js";
import { median, table } from "./lib/numbers.mjs";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

const MAX_SUBJECTS = 1_000_000;
const OTHERS = 100_000;
const READ_SIZE = 10_000;
const PAIRS = 24;
const CALLS = 500;
const CHECKS = 1_000_000;

/** Measures both. @returns Markdown */
export async function revocations() {
  const rows = [];
  for (const count of [10_000, 100_000, MAX_SUBJECTS]) rows.push(measureMemory(count));
  const memory = table(["revocations", "heap", "bytes each", "resident memory"], rows);
  return `## Revocations\n\n${memory}\n\n${measureCheck()}\n\n${await measureCalls()}`;
}

/** Fills the list of a process as its reads of the log do. */
function fill(count) {
  const subjects = new RevokedSubjects();
  for (let end = READ_SIZE; end <= count; end += READ_SIZE) {
    const entries = Array.from({ length: READ_SIZE }, (_, index) => ({
      subject: `u:${randomBytes(16).toString("base64url")}`, // the form of a hashed user id
      seq: end - READ_SIZE + index + 1,
    }));
    subjects.apply({ epoch: "0000000000000", entries, end }, performance.now());
  }
  return subjects;
}

function measureMemory(count) {
  collectGarbage();
  const before = process.memoryUsage();
  const subjects = fill(count);
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  const heap = heapUsed - before.heapUsed;
  const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  return [subjects.size, mb(heap), (heap / count).toFixed(0), mb(rss - before.rss)];
}

/** Measures the user time of one check of a session, without the call around it. */
function measureCheck() {
  const rows = [0, OTHERS].map((count) => {
    const subjects = fill(count);
    const position = { epoch: "0000000000000", seq: 0 };
    const checked = { position, subjects: { user: `u:${"a".repeat(22)}`, signIn: `s:${"b".repeat(22)}` } };
    const rounds = Array.from({ length: PAIRS }, () => {
      const { user } = process.cpuUsage();
      for (let n = 0; n < CHECKS; n++) if (subjects.isRevoked(checked)) throw new Error("The session is not revoked.");
      return (process.cpuUsage({ user, system: 0 }).user * 1000) / CHECKS;
    });
    return [count, `${quartiles(rounds, 1)} ns`];
  });
  return table(["revocations", "user time of a check"], rows);
}

/**
 * Measures the user time of calls in pairs, whose order alternates: without the check, and with it. What a pair has in common,
 * such as another process on the machine, does not change its ratio.
 */
async function measureCalls() {
  const { call, stop } = await startApp();
  const { isRevoked } = RevocationLog.prototype;
  const userMs = async (check) => {
    RevocationLog.prototype.isRevoked = check;
    const { user } = process.cpuUsage();
    for (let n = 0; n < CALLS; n++) await call();
    return process.cpuUsage({ user, system: 0 }).user / 1000;
  };
  const withSubjects = (subjects) => (checked) => {
    if (checked.position !== null) subjects.isAhead(checked.position); // its read is not part of the call
    return subjects.isRevoked(checked);
  };
  const without = () => false;
  const empty = new RevokedSubjects();
  empty.apply({ epoch: "0000000000000", entries: [], end: 0 }, 0);
  const kinds = [
    ["no check, for comparison of the noise", without],
    ["nobody revoked", withSubjects(empty)],
    [`${OTHERS} others revoked`, withSubjects(fill(OTHERS))],
  ];
  const rows = [];
  for (const [name, check] of kinds) {
    for (let times = 0; times < 3; times++) await userMs(check); // warm-up
    const ratios = [];
    const differences = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      const order = pair % 2 === 0 ? [without, check] : [check, without];
      const [first, second] = [await userMs(order[0]), await userMs(order[1])];
      const [base, measured] = pair % 2 === 0 ? [first, second] : [second, first];
      ratios.push(measured / base);
      differences.push(((measured - base) * 1000) / CALLS);
    }
    rows.push([name, quartiles(ratios, 3), `${quartiles(differences, 2)} µs`]);
  }
  RevocationLog.prototype.isRevoked = isRevoked;
  await stop();
  return table([`user time of a call, of that without the check, in ${PAIRS} pairs`, "ratio", "difference"], rows);
}

/** Returns the median and, in brackets, the quartiles. */
function quartiles(values, digits) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part) => sorted[Math.floor((sorted.length - 1) * part)].toFixed(digits);
  return `${median(values).toFixed(digits)} (${at(0.25)} to ${at(0.75)})`;
}

/** Starts an application in this process, and signs a user in. */
async function startApp() {
  // As a compiled module does.
  const declare = (name, fn, params = []) =>
    Reflect.apply(server, undefined, [{}, fn, { name, file: "src/app.server.ts", line: 1, params }]);
  const functions = {
    enter: declare("enter", () => session.login("ada", { roles: ["admin"] })),
    who: declare("who", () => session.user()?.sub ?? "nobody"),
  };
  const app = new App({ modules: [functions], rate: false, env: {} });
  await app.start();
  const send = (name, headers = {}) =>
    app.fetch(
      new Request(`http://shop.example/__web/rpc/${name}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: '{"args":{}}',
      }),
    );
  const cookie = (await send("enter")).headers.get("set-cookie")?.split(";")[0] ?? "";
  const call = async () => {
    const { result } = await (await send("who", { cookie })).json();
    if (result !== "ada") throw new Error(`The call returned ${result}.`);
  };
  return { call, stop: () => app.close() };
}
