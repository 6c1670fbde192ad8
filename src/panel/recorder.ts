import type { RequestContext } from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import type { HandledRequest, ObservedRequest, ObservedResponse, RequestTarget } from "../observe/index.ts";
import type { CallSettings, FunctionDefinition } from "../rpc/index.ts";
import type { Observer } from "../server/index.ts";
import { type FunctionObserver, observeFunctions, observeLog } from "./observe.ts";
import type { ChangedPart, ErrorInfo, MessageInfo, RequestChanges, RequestEntry, RequestKind } from "./panel-data.ts";
import { preview, previewJson } from "./preview.ts";
import { redactPath, redactQuery, redactText, secretsOfUrl, secretValues, withoutSecrets } from "./redact.ts";
/** How many requests are kept. */
export const MAX_REQUESTS = 500;

/** How many messages are kept. */
export const MAX_MESSAGES = 200;

/** The maximum length of the text of one error, in characters. */
const MAX_ERROR_CHARS = 8_000;

/** The options of a {@link Recorder}. */
export interface RecorderOptions {
  /** Finds the location of an error in the application's files. */
  readonly explain: (error: unknown) => Promise<ErrorInfo>;
  /** Called after each change. */
  readonly onChange: (part: ChangedPart) => void;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A request that is recorded. */
interface Recorded {
  readonly id: number;
  readonly entry: Mutable<RequestEntry>;
  /** The version of its last change. */
  version: number;
  /** The values of its secrets, which its errors may repeat. */
  secrets: readonly string[];
  /** Whether an error was reported. Later ones are the same, from the log, or a consequence, such as that of a time limit. */
  hasFailed: boolean;
}

/** Records requests and messages for the panel: the latest of each, without secrets. */
export class Recorder implements Observer, FunctionObserver {
  readonly #options: RecorderOptions;
  readonly #requests = new BoundedList<Recorded>(MAX_REQUESTS);
  readonly #messages = new BoundedList<MessageInfo>(MAX_MESSAGES);
  /** The requests by their context. A request id comes from the client, and need not be unique. */
  readonly #byContext = new WeakMap<RequestContext, Recorded>();
  #version = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  started(request: ObservedRequest): void {
    const { context } = request;
    const { method, url } = context.inbound;
    const target = shownTarget(request);
    const recorded = this.#requests.add((id) => ({
      id,
      version: 0,
      secrets: secretsOfUrl(url, target.path),
      hasFailed: false,
      entry: {
        id,
        requestId: context.id,
        time: Date.now(),
        method,
        ...target,
        args: null,
        status: null,
        durationMs: null,
        values: null,
        refusal: null,
        error: null,
        isPrefetch: request.isPrefetch,
      },
    }));
    this.#byContext.set(context, recorded);
    this.#changed(recorded);
  }

  responded({ context }: ObservedRequest, { status, body }: ObservedResponse): void {
    const recorded = this.#byContext.get(context);
    if (!recorded) return;
    recorded.entry.status = status;
    if (status >= 400 && typeof body === "string") recorded.entry.refusal = readRefusal(body, recorded);
    this.#changed(recorded);
  }

  ended({ context, durationMs }: HandledRequest): void {
    const recorded = this.#byContext.get(context);
    if (!recorded) return;
    recorded.entry.durationMs = Math.round(durationMs * 10) / 10;
    this.#changed(recorded);
  }

  observeFunctions(functions: CallSettings["functions"]): CallSettings["functions"] {
    return observeFunctions(functions, this);
  }

  observeLog(log: AppLog): AppLog {
    return observeLog(log, this);
  }

  functionStarted(context: RequestContext, { signature }: FunctionDefinition, args: readonly unknown[]): void {
    const recorded = this.#byContext.get(context);
    if (!recorded) return;
    const [keys] = args;
    const values = signature.keyed ? signature.params.map(({ name }) => Object(keys)[name]) : args;
    recorded.entry.target = signature.name;
    recorded.entry.args = signature.params.map(({ name }, index) => [name, preview(values[index], name)]);
    recorded.secrets = [
      ...recorded.secrets,
      ...signature.params.flatMap(({ name }, index) => secretValues(values[index], name)),
    ];
    if (signature.stream) recorded.entry.values = 0;
    this.#changed(recorded);
  }

  valueYielded(context: RequestContext): void {
    const recorded = this.#byContext.get(context);
    if (!recorded) return;
    recorded.entry.values = (recorded.entry.values ?? 0) + 1;
    this.#changed(recorded);
  }

  failed(requestId: string, error: unknown): void {
    const recorded = this.#requests.items.findLast(({ entry }) => entry.requestId === requestId);
    if (!recorded || recorded.hasFailed) return;
    recorded.hasFailed = true;
    void this.#explain(recorded, error);
  }

  readonly published = (channel: string, json: string): void => {
    this.#messages.add((id) => ({
      id,
      time: Date.now(),
      channel,
      json: previewJson(json),
      bytes: Buffer.byteLength(json),
    }));
    this.#options.onChange("live");
  };

  /** Returns the requests that are new or have changed since a version. */
  requestsSince(version: number): RequestChanges {
    const changed = this.#requests.items.filter((recorded) => recorded.version > version);
    return { version: this.#version, firstId: this.#requests.firstId, entries: changed.map(({ entry }) => entry) };
  }

  get messages(): readonly MessageInfo[] {
    return this.#messages.items;
  }

  clearRequests(): void {
    this.#requests.clear();
    this.#options.onChange("requests");
  }

  clearMessages(): void {
    this.#messages.clear();
    this.#options.onChange("live");
  }

  async #explain(recorded: Recorded, error: unknown): Promise<void> {
    try {
      const explained = await this.#options.explain(error);
      const { message, stack } = explained;
      recorded.entry.error = { ...explained, message: shown(message, recorded), stack: shown(stack, recorded) };
    } catch (failure) {
      // Its properties may have getters that throw. The panel must not fail because of the application's error.
      recorded.entry.error = {
        type: "Error",
        message: shown(String(failure), recorded),
        location: "",
        frame: "",
        stack: "",
      };
    }
    this.#changed(recorded);
  }

  #changed(recorded: Recorded): void {
    this.#version++;
    recorded.version = this.#version;
    this.#options.onChange("requests");
    if (recorded.entry.kind === "live") this.#options.onChange("live"); // a connection was opened or closed
  }
}

function shown(text: string, { secrets }: Recorded): string {
  return redactText(withoutSecrets(text, secrets)).slice(0, MAX_ERROR_CHARS);
}

/** Returns the error in the body of a response; `null` if there is none. @see docs/protocol.md 5.2 */
function readRefusal(body: string, recorded: Recorded): RequestEntry["refusal"] {
  if (!body.startsWith('{"error":')) return null;
  const { error }: { readonly error: { readonly code: string; readonly message: string } } = JSON.parse(body);
  return { code: error.code, message: shown(error.message, recorded) };
}

/** The latest items, up to a number. Each has an id, which counts from 1 and is never used twice. */
class BoundedList<Item extends { readonly id: number }> {
  readonly #max: number;
  #items: Item[] = [];
  #lastId = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** The items, oldest first. */
  get items(): readonly Item[] {
    return this.#items;
  }

  /** The id of the oldest item, or of the next one if there is none. */
  get firstId(): number {
    return this.#items[0]?.id ?? this.#lastId + 1;
  }

  /** Adds an item, and drops the oldest one of too many. */
  add(create: (id: number) => Item): Item {
    this.#lastId++;
    const item = create(this.#lastId);
    this.#items.push(item);
    if (this.#items.length > this.#max) this.#items.shift();
    return item;
  }

  clear(): void {
    this.#items = [];
  }
}

const KINDS: Readonly<Record<RequestTarget["kind"], RequestKind>> = {
  ...{ call: "call", stream: "call", form: "form", page: "page", route: "route", live: "live" },
  ...{ file: "other", health: "other", other: "other" },
};

/** Returns what a request is for, as the panel shows it, without secrets. */
function shownTarget({ context, target }: ObservedRequest): Pick<RequestEntry, "kind" | "target" | "path"> {
  const { pathname, search } = context.inbound.url;
  const kind = KINDS[target.kind];
  // The feeds of live updates are permissions, and long.
  if (kind === "live") return { kind, target: "", path: pathname };
  return { kind, target: target.name ?? "", path: redactPath(pathname, target.route ?? "") + redactQuery(search) };
}
