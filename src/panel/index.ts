/**
 * The panel of the development server: what it records and how it is redacted. The pages of the panel are an application
 * of their own, in panel/.
 */
import type { Config } from "../config/index.ts";
import { FetchInboundRequest, RequestContext } from "../http/index.ts";
import { FORM_PREFIX, type Parameter, RPC_PREFIX, type TypeShape } from "../protocol/index.ts";
import { checkCoverage, type FunctionDefinition } from "../rpc/index.ts";
import { type AppInternals, formatLocation, type Inspection, type Observer } from "../server/index.ts";
import { issueCsrfToken } from "../session/index.ts";
import type {
  ApplicationInfo,
  ChangedPart,
  ConnectionInfo,
  EndpointInfo,
  ErrorInfo,
  FunctionInfo,
  InputKind,
  LiveInfo,
  PanelHost,
  ParameterInfo,
} from "./panel-data.ts";
import { Recorder } from "./recorder.ts";
import { isSecret } from "./redact.ts";

export { PANEL_HOST } from "./panel-data.ts";

/** An application that the development server serves. */
interface ServedApp {
  readonly config: Config;
  readonly internals: AppInternals;
}

/** The options of a {@link DevelopmentPanel}. */
interface PanelOptions {
  /** Returns the application as its files are now. */
  readonly loadApp: () => Promise<ServedApp>;
  /** Finds the location of an error in the application's files. */
  readonly explain: (error: unknown) => Promise<ErrorInfo>;
  /** Returns whether a page of the panel is open. */
  readonly isOpen: () => boolean;
}

/** The interval of notifications of the panel. */
const NOTIFY_MS = 200;

/** How often the positions of live connections are compared while the panel is open. */
const POSITIONS_MS = 1_000;

/** How long requests are recorded after the panel was closed: its page may be reloading. */
const KEEP_RECORDING_MS = 60_000;

/**
 * The data of the panel. Recording starts when the panel is opened, and ends a minute after it was closed. The recorded
 * data is kept.
 */
export class DevelopmentPanel implements PanelHost {
  readonly #options: PanelOptions;
  readonly #recorder: Recorder;
  /** The applications that may have connections: connections from before an edit belong to an earlier one. */
  readonly #apps = new Set<AppInternals>();
  readonly #connectionIds = new WeakMap<object, number>();
  #lastConnectionId = 0;
  readonly #changedParts = new Set<ChangedPart>();
  #listener: (parts: readonly ChangedPart[]) => void = () => undefined;
  #notifyTimer: NodeJS.Timeout | undefined;
  #watchTimer: NodeJS.Timeout | undefined;
  #recordUntilMs = 0;
  #shownConnections = "";

  constructor(options: PanelOptions) {
    this.#options = options;
    this.#recorder = new Recorder({ explain: options.explain, onChange: (part) => this.changed(part) });
  }

  /** The observer of the application; `undefined` while the panel is closed. */
  get observer(): Observer | undefined {
    return this.#watchTimer ? this.#recorder : undefined;
  }

  /** Records from now on, until a minute after the panel was closed. Called for each request of the panel. */
  opened(): void {
    this.#recordUntilMs = performance.now() + KEEP_RECORDING_MS;
    this.#watchTimer ??= setInterval(() => this.#watch(), POSITIONS_MS).unref();
  }

  /** Adds an application whose connections are shown, in place of earlier ones without connections. */
  addApp(internals: AppInternals): void {
    for (const earlier of this.#apps) if (earlier.liveConnections().length === 0) this.#apps.delete(earlier);
    this.#apps.add(internals);
  }

  /** Notifies the panel that a part of the data has changed. */
  changed(part: ChangedPart): void {
    if (!this.#watchTimer) return;
    this.#changedParts.add(part);
    this.#notifyTimer ??= setTimeout(() => this.#notify(), NOTIFY_MS).unref();
  }

  async application(): Promise<ApplicationInfo> {
    try {
      const { internals } = await this.#options.loadApp();
      return describeApplication(internals.inspection);
    } catch (error) {
      return { title: "", functions: [], endpoints: [], error: await this.#options.explain(error) };
    }
  }

  requests(since: number) {
    return this.#recorder.requestsSince(since);
  }

  clearRequests(): void {
    this.#recorder.clearRequests();
  }

  live(): LiveInfo {
    return { connections: this.#connections(), messages: this.#recorder.messages };
  }

  clearMessages(): void {
    this.#recorder.clearMessages();
  }

  async csrfToken(cookie: string | undefined): Promise<string | null> {
    const { config } = await this.#options.loadApp();
    const request = new Request("http://localhost/", { headers: cookie === undefined ? {} : { cookie } });
    const inbound = new FetchInboundRequest(request);
    return issueCsrfToken(new RequestContext({ inbound, id: "", traceparent: "", address: "", config }));
  }

  onChange(listener: (parts: readonly ChangedPart[]) => void): void {
    this.#listener = listener;
  }

  #connections(): ConnectionInfo[] {
    const connections = [...this.#apps].flatMap((internals) => internals.liveConnections());
    return connections.map((connection) => ({
      id: this.#idOf(connection),
      feeds: connection.readers.map(({ channel, position, isEnded }) => ({ channel, position, hasEnded: isEnded })),
    }));
  }

  #idOf(connection: object): number {
    const id = this.#connectionIds.get(connection) ?? ++this.#lastConnectionId;
    this.#connectionIds.set(connection, id);
    return id;
  }

  #notify(): void {
    this.#notifyTimer = undefined;
    const parts = [...this.#changedParts];
    this.#changedParts.clear();
    this.#listener(parts);
  }

  /** Finds connections that were opened, closed or served. Ends the recording after the panel was closed. */
  #watch(): void {
    if (this.#options.isOpen()) this.#recordUntilMs = performance.now() + KEEP_RECORDING_MS;
    if (performance.now() > this.#recordUntilMs) {
      clearInterval(this.#watchTimer);
      this.#watchTimer = undefined;
      return;
    }
    const connections = JSON.stringify(this.#connections());
    if (connections !== this.#shownConnections) this.changed("live");
    this.#shownConnections = connections;
  }
}

/** Returns the data of an application that the panel shows. */
export function describeApplication(app: Inspection): ApplicationInfo {
  const { base, pages, routes, functions, title } = app;
  const endpoint = (kind: "page" | "route", method: string, path: string, location: string): EndpointInfo => ({
    kind,
    method,
    path: base + path,
    location,
  });
  return {
    title,
    functions: functions.map((definition) => describeFunction(definition, app)),
    endpoints: [
      ...pages.map(({ path, source }) => endpoint("page", "GET", path, formatLocation(source))),
      ...routes.map(({ method, path, source }) => endpoint("route", method, path, formatLocation(source))),
    ],
    error: null,
  };
}

function describeFunction(definition: FunctionDefinition, app: Inspection): FunctionInfo {
  const { signature, options } = definition;
  const { name, stream, params, documentation = {} } = signature;
  const { description, deprecated } = documentation;
  return {
    name,
    path: `${app.base}${RPC_PREFIX}${encodeURIComponent(name)}`,
    formPath: `${app.base}${FORM_PREFIX}${encodeURIComponent(name)}`,
    location: formatLocation(signature),
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
    stream: stream === true,
    requiresSignIn: options.auth_required === true,
    params: params.map((parameter) => describeParameter(parameter, definition, app)),
  };
}

function describeParameter(
  parameter: Parameter,
  { signature, options }: FunctionDefinition,
  { strict }: Inspection,
): ParameterInfo {
  const { name, annotation, type, optional, nullable } = parameter;
  const { params: descriptions = {}, defaults = {} } = signature.documentation ?? {};
  const description = Object.hasOwn(descriptions, name) ? descriptions[name] : undefined;
  const defaultText = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
  const hasSchema = Object.hasOwn(options.validate ?? {}, name);
  const choices = choicesOf(parameter);
  return {
    name,
    type: annotation || (type === "any" ? "" : type),
    optional: optional === true,
    nullable: nullable === true || parameter.shape?.nullable === true,
    ...(description === undefined ? {} : { description }),
    ...(defaultText === undefined ? {} : { defaultText }),
    checked: hasSchema ? "full" : checkCoverage(parameter, signature, strict),
    input: choices.length > 0 ? "choice" : inputOf(parameter),
    choices,
    secret: isSecret(name),
  };
}

/** Returns how the value of a parameter is entered. A type that is not known is entered as JSON, which has all values. */
function inputOf({ type, files, shape, annotation, literals, nullable }: Parameter): InputKind {
  if (files) return files === "one" ? "file" : "files";
  if (literals && literals.length > 0) return "json"; // `int | "all"`
  if (type !== "boolean" && (nullable || shape?.nullable)) return "json"; // no text stands for `null`
  if (type !== "any") return type;
  const isText = shape ? isOnly(shape, ["kinds"]) && shape.kinds?.join() === "string" : annotation === "string";
  return isText ? "text" : "json";
}

/** Returns the values of a type that has only literals, as JSON. */
function choicesOf({ type, shape, files }: Parameter): string[] {
  if (type !== "any" || files || !shape || !isOnly(shape, ["literals"])) return [];
  return (shape.literals ?? []).map((literal) => JSON.stringify(literal));
}

/** Returns whether a type has no other members than these, apart from `null` and `undefined`. */
function isOnly(shape: TypeShape, members: readonly (keyof TypeShape)[]): boolean {
  const all: readonly string[] = [...members, "nullable", "optional"];
  return Object.keys(shape).every((member) => all.includes(member));
}
