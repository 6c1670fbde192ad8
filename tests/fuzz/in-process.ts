/** Sends generated requests to applications in this process. */
import { checkResponse, type FuzzResponse } from "./check-response.ts";
import type { FuzzRequest } from "./fuzz-request.ts";
import { FuzzRandom } from "./random.ts";
import { generateRequest } from "./requests.ts";

/** The part of an `App` that responds to requests of the Fetch standard. */
interface FetchHandler {
  fetch(request: Request, info?: { readonly address?: string }): Promise<Response>;
}

/** Which requests are generated. */
export interface FuzzOptions {
  readonly seed: number;
  /** The number of the first request. 0 by default. */
  readonly from?: number;
  /** How many requests are sent. */
  readonly runs: number;
}

/** A request whose response broke a rule. */
export interface FuzzFailure {
  /** The number of the request. Together with the seed it identifies the request. */
  readonly number: number;
  readonly request: string;
  readonly reason: string;
}

/** The result of a run. */
export interface FuzzResult {
  /** The number of responses by status; `none` for requests without a response. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly failures: readonly FuzzFailure[];
}

const CONCURRENCY = 32;
const TIMEOUT_MS = 20_000;
const MAX_FAILURES = 10;

/** Sends the requests of a seed concurrently, to each application in turn. Stops after 10 failures. */
export async function fuzzInProcess(
  apps: readonly FetchHandler[],
  { seed, from = 0, runs }: FuzzOptions,
): Promise<FuzzResult> {
  const statuses: Record<string, number> = {};
  const failures: FuzzFailure[] = [];
  let next = from;
  const worker = async () => {
    while (next < from + runs && failures.length < MAX_FAILURES) {
      const number = next++;
      // No request waits for I/O. Without this, timers and streams would never run.
      await new Promise((resolve) => setImmediate(resolve));
      const app = apps[number % apps.length];
      const request = generateRequest(new FuzzRandom(seed, number));
      const { status, reason } = await sendAndCheck(app, request);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (reason !== null) failures.push({ number, request: describeRequest(request), reason });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return { statuses, failures };
}

async function sendAndCheck(
  app: FetchHandler | undefined,
  fuzzRequest: FuzzRequest,
): Promise<{ status: string; reason: string | null }> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  try {
    const request = toFetchRequest(fuzzRequest);
    if (request === null) return { status: "not sendable", reason: null };
    const response = await Promise.race([send(app, request), timeout]);
    return { status: String(response.status), reason: checkResponse(fuzzRequest, response) };
  } catch (error) {
    return { status: "none", reason: String(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a `Request` of the Fetch standard; `null` if its constructor rejects the parts. */
function toFetchRequest({ method, path, headers, body, chunked, disconnects }: FuzzRequest): Request | null {
  const requestBody = body !== null && (chunked || disconnects) ? chunkedStream(body, disconnects) : body;
  // Node requires `duplex` for a stream; its types do not declare it.
  const init = { method, headers, body: requestBody, duplex: "half" };
  try {
    return new Request(`http://${headers.host ?? "shop.example"}${path}`, init as RequestInit);
  } catch {
    return null;
  }
}

function chunkedStream(body: Buffer, disconnects: boolean): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (disconnects && at > 0) return controller.error(new Error("The client has disconnected"));
      if (at >= body.length) return controller.close();
      controller.enqueue(new Uint8Array(body.subarray(at, at + 1 + (body.length >> 2))));
      at += 1 + (body.length >> 2);
    },
  });
}

/** The number of chunks that are read of a stream, which may be endless. */
const MAX_CHUNKS = 20;

async function send(app: FetchHandler | undefined, request: Request): Promise<FuzzResponse> {
  if (!app) throw new Error("fuzzInProcess was called without an application.");
  const response = await app.fetch(request, { address: "127.0.0.1" });
  const { status, headers, body } = response;
  if (headers.get("content-type") !== "application/x-ndjson" || !body) {
    return { status, headers, text: await response.text(), isComplete: true };
  }
  const decoder = new TextDecoder();
  let text = "";
  let chunks = 0;
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (++chunks === MAX_CHUNKS) return { status, headers, text, isComplete: false };
  }
  return { status, headers, text, isComplete: true };
}

function describeRequest({ body, ...rest }: FuzzRequest): string {
  const text = body && (body.length > 500 ? `${body.length} bytes` : body.toString("latin1"));
  return JSON.stringify({ ...rest, body: text });
}
