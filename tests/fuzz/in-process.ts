/** Sends what nobody would send to an application in this process. */
import { Random } from "./random.ts";
import { type OddRequest, oddRequest } from "./requests.ts";
import { faultOf, type OddAnswer } from "./verdict.ts";

/** What answers by the Fetch standard: an `App`. */
interface Fetching {
  fetch(request: Request, info?: { readonly address?: string }): Promise<Response>;
}

/** Which requests are made up: those of a seed, from a number on. */
export interface Runs {
  readonly seed: number;
  readonly from?: number;
  readonly runs: number;
}

/** A request that was answered as it must not be. */
export interface Fault {
  /** Its number: with the seed it can be had again. */
  readonly number: number;
  readonly request: string;
  readonly fault: string;
}

/** What came of it. */
export interface Result {
  /** How many were answered how. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly faults: readonly Fault[];
}

const AT_ONCE = 32;
const MOST_MS = 20_000;
const MOST_FAULTS = 10;

/** Sends all requests of a seed, many at once, to applications in turn. */
export async function fuzzInProcess(apps: readonly Fetching[], { seed, from = 0, runs }: Runs): Promise<Result> {
  const statuses: Record<string, number> = {};
  const faults: Fault[] = [];
  let next = from;
  const worker = async () => {
    while (next < from + runs && faults.length < MOST_FAULTS) {
      const number = next++;
      // Nothing here waits for a network: without this, timers and streams would never have their turn.
      await new Promise((later) => setImmediate(later));
      const app = apps[number % apps.length];
      const request = oddRequest(new Random(seed, number));
      const tried = await attempt(app, request);
      statuses[tried.status] = (statuses[tried.status] ?? 0) + 1;
      if (tried.fault !== null) faults.push({ number, request: shown(request), fault: tried.fault });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { statuses, faults };
}

async function attempt(
  app: Fetching | undefined,
  request: OddRequest,
): Promise<{ status: string; fault: string | null }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${MOST_MS} ms`)), MOST_MS);
  });
  try {
    const asked = fetchRequest(request);
    if (asked === null) return { status: "not to be sent", fault: null };
    const answer = await Promise.race([send(app, asked), late]);
    return { status: String(answer.status), fault: faultOf(request, answer) };
  } catch (error) {
    return { status: "none", fault: String(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Gives a request by the Fetch standard; `null` for what no client could make one of. */
function fetchRequest({ method, path, headers, body, pieces, breaks }: OddRequest): Request | null {
  const whole = body === null || !(pieces || breaks) ? body : inPieces(body, breaks);
  const init = { method, headers, body: whole, duplex: "half" }; // Node wants it said; its types do not know it
  try {
    return new Request(`http://${headers.host ?? "shop.example"}${path}`, init as RequestInit);
  } catch {
    return null;
  }
}

function inPieces(body: Buffer, breaks: boolean): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (breaks && at > 0) return controller.error(new Error("The sender went away"));
      if (at >= body.length) return controller.close();
      controller.enqueue(new Uint8Array(body.subarray(at, at + 1 + (body.length >> 2))));
      at += 1 + (body.length >> 2);
    },
  });
}

/** How much is read of a stream that may have no end. */
const MOST_LINES = 20;

async function send(app: Fetching | undefined, request: Request): Promise<OddAnswer> {
  if (!app) throw new Error("There is no application");
  const response = await app.fetch(request, { address: "127.0.0.1" });
  const { status, headers, body } = response;
  if (headers.get("content-type") !== "application/x-ndjson" || !body) {
    return { status, headers, text: await response.text(), whole: true };
  }
  const decoder = new TextDecoder();
  let text = "";
  let lines = 0;
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (++lines === MOST_LINES) return { status, headers, text, whole: false };
  }
  return { status, headers, text, whole: true };
}

function shown({ body, ...rest }: OddRequest): string {
  const text = body && (body.length > 500 ? `${body.length} bytes` : body.toString("latin1"));
  return JSON.stringify({ ...rest, body: text });
}
