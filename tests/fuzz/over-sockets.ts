/** Sends bytes that are hardly HTTP to a server in a process of its own. */
import { connect } from "node:net";
import { callBytes } from "#test/raw";
import type { Fault, Result, Runs } from "./in-process.ts";
import { Random } from "./random.ts";
import { SOUND } from "./requests.ts";
import { oddRecord } from "./values.ts";

const AT_ONCE = 50;

/** How long is waited for an answer to what may be half a request. */
const MOST_MS = 1_000;

/** Sends all of a seed to a server, each on a connection of its own. */
export async function fuzzOverSockets(address: string, { seed, from = 0, runs }: Runs): Promise<Result> {
  const statuses: Record<string, number> = {};
  const faults: Fault[] = [];
  let next = from;
  const worker = async () => {
    while (next < from + runs) {
      const number = next++;
      const bytes = oddBytes(new Random(seed, number));
      const answer = await exchange(address, bytes);
      const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? (answer === "" ? "none" : "broken");
      statuses[status] = (statuses[status] ?? 0) + 1;
      const fault = faultOf(status, answer);
      if (fault !== null) faults.push({ number, request: bytes.subarray(0, 2_000).toString("latin1"), fault });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { statuses, faults };
}

const STATUSES = "200 201 206 303 304 308 400 401 403 404 405 408 411 413 415 417 422 426 429 431 none".split(" ");

function faultOf(status: string, answer: string): string | null {
  if (!STATUSES.includes(status)) return `${status}: ${answer.slice(0, 300)}`;
  return /the secret reason|\.(ts|mjs):\d+:\d+|node_modules/.test(answer) ? "it tells what only the log should" : null;
}

function oddBytes(random: Random): Buffer {
  const name = random.chance(80) ? (SOUND[random.below(SOUND.length)] ?? "ping") : "nobody";
  const call = callBytes(name, oddRecord(random));
  const chunks = `Transfer-Encoding: chunked\r\n\r\n${random.pick(["5", "ffffffff", "-1", "0x5", "5;ext=1", ""])}\r\nhello\r\n0\r\n\r\n`;
  const page = `GET ${random.pick(["/", "/me", "/robots.txt", "/users/%ff"])} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const whole = random.pick([
    call,
    call,
    call + page + call,
    page,
    call.replace(
      /Content-Length: \d+/,
      `Content-Length: ${random.pick(["0", "1", "-1", "99999999", "x", "1\r\nContent-Length: 2"])}`,
    ),
    `POST /__web/rpc/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${chunks}`,
  ]);
  if (random.chance(10)) return random.bytes(random.below(500));
  return random.chance(70) ? random.damage(Buffer.from(whole)) : Buffer.from(whole);
}

/** Sends bytes, and gives what has come back once it is quiet, or the connection over. */
function exchange(address: string, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(address).port), "127.0.0.1", () => socket.write(bytes));
    let text = "";
    const end = () => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(MOST_MS, end);
    socket.on("error", () => undefined); // reset by the server: as good an end as any
    socket.on("close", end).on("data", (part) => {
      text += part.toString("latin1");
      if (text.length > 100_000)
        end(); // a stream without an end
      else if (/^HTTP\/1\.1 \d.*\r\n\r\n/s.test(text)) socket.setTimeout(20, end);
    });
  });
}
