import type { EventEmitter } from "node:events";
import { currentContext, type RequestContext, runOutsideRequests } from "../../../http/index.ts";
import type { HandledRequest } from "../../../observe/index.ts";
import type { AppInternals, Observer } from "../../../server/index.ts";
import { closestName } from "../../../text/index.ts";
import { type ErrorLog, explainError } from "../../errors/index.ts";

/** How long a change may take to be published: another process may do that, or the function does not await it. */
const PUBLISH_MS = 1_000;

/** A query whose value pages show. */
type ShownQuery = ReturnType<AppInternals["shownQueries"]>[number];

/** A call, or a form, of a server function that has succeeded. */
interface EndedCall {
  readonly name: string;
  /** Of the function, relative to the project's root. */
  readonly file: string;
  readonly line: number;
  /** The channels to which it has published. */
  readonly published: ReadonlySet<string>;
}

/**
 * Prints which server function has changed the value of a live query that pages show, and has not published that: pages keep the old
 * value, and nothing fails.
 *
 * After a call that has published to no channel of a query, the query is run once more, for nobody. If it then returns another value
 * than pages show, and no message has come, it is run again, because some queries return another value each time, such as one with
 * the time.
 */
export class UnpublishedChanges {
  readonly #errors: ErrorLog;
  readonly #root: string;
  readonly #published = new WeakMap<RequestContext, Set<string>>();
  /** The functions and queries of which a change was reported, or whose value is different each time. */
  readonly #known = new Set<string>();
  /** The functions and queries with arguments that are about to be checked. */
  readonly #pending = new Set<string>();

  /**
   * @param edits emits `all` for each edit
   * @param root the application's folder
   */
  constructor(edits: EventEmitter, errors: ErrorLog, root: string) {
    this.#errors = errors;
    this.#root = root;
    edits.on("all", () => this.#known.clear());
  }

  /** Returns an observer of an application that also passes everything on to another one. */
  observe(internals: AppInternals, other: Observer | undefined): Observer {
    return {
      started: (request) => other?.started?.(request),
      responded: (request, response) => other?.responded?.(request, response),
      ended: (request) => {
        other?.ended(request);
        this.#ended(request, internals);
      },
      observeFunctions: (functions) => other?.observeFunctions(functions) ?? functions,
      observeLog: (log) => other?.observeLog(log) ?? log,
      published: (channel, json) => {
        other?.published(channel, json);
        this.#noteChannel(channel);
      },
    };
  }

  #noteChannel(channel: string): void {
    const context = currentContext();
    if (!context) return;
    const channels = this.#published.get(context) ?? new Set();
    this.#published.set(context, channels.add(channel));
  }

  #ended({ context, target, status }: HandledRequest, { inspection, shownQueries }: AppInternals): void {
    if (status >= 400 || !["call", "stream", "form"].includes(target.kind)) return;
    const definition = inspection.functions.find(({ signature }) => signature.name === target.name);
    if (!definition) return;
    const call = { ...definition.signature, published: this.#published.get(context) ?? new Set() };
    for (const shown of shownQueries()) {
      const check = `${call.name} ${shown.call.id}`;
      const isKnown = this.#known.has(keyOf(call, shown)) || this.#pending.has(check);
      if (isKnown || shown.call.channels.some((channel) => call.published.has(channel))) continue;
      this.#pending.add(check);
      const run = () => {
        this.#pending.delete(check);
        void this.#check(call, shown);
      };
      runOutsideRequests(() => setTimeout(run, PUBLISH_MS).unref());
    }
  }

  async #check(call: EndedCall, shown: ShownQuery): Promise<void> {
    const value = shown.isCurrent() ? await shown.read() : null;
    if (value === null || value === shown.json) return;
    const isStable = (await shown.read()) === value;
    if ((isStable && !shown.isCurrent()) || this.#known.has(keyOf(call, shown))) return;
    this.#known.add(keyOf(call, shown));
    if (isStable) this.#print(call, shown);
  }

  #print(call: EndedCall, { call: { definition, channels } }: ShownQuery): void {
    const { name, file, line, published } = call;
    const [channel = ""] = channels;
    const quoted = (names: Iterable<string>) => [...names].map((each) => JSON.stringify(each)).join(", ");
    const misspelled = [...published].find((each) => closestName(each, channels) !== undefined);
    const wrong = misspelled
      ? ` It has published to ${quoted([misspelled])}: is that misspelled?`
      : published.size > 0
        ? ` It has published to ${quoted(published)} only.`
        : "";
    const error = new Error(
      `After a call of ${name}, the live query ${definition.name} (${definition.file}:${definition.line}) returns another value than ` +
        `pages show, but nothing was published to its ${channels.length === 1 ? "channel" : "channels"} ${quoted(channels)}, so pages ` +
        `keep the old value.${wrong} If ${name} has made the change, publish it afterwards: \`await publish(${quoted([channel])})\`.`,
    );
    error.stack = `    at ${name} (${this.#root}/${file}:${line}:1)`;
    this.#errors.printExplained({ ...explainError(error, this.#root), name: "Warning" });
  }
}

/** Identifies a function and a query, whatever its arguments are. */
function keyOf({ name }: EndedCall, { call }: ShownQuery): string {
  return `${name} ${call.definition.name}`;
}
