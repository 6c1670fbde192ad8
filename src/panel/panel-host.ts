import type { Config } from "../config/index.ts";
import { FetchInboundRequest, RequestContext } from "../http/index.ts";
import type { AppInternals, Observer } from "../server/index.ts";
import { issueCsrfToken } from "../session/index.ts";
import { describeApplication } from "./describe-application.ts";
import type { ApplicationInfo, ChangedPart, ConnectionInfo, ErrorInfo, LiveInfo, PanelHost } from "./panel-data.ts";
import { Recorder } from "./recorder.ts";

/** An application that the development server serves. */
export interface ServedApp {
  readonly config: Config;
  readonly internals: AppInternals;
}

/** The options of a {@link DevelopmentPanel}. */
export interface PanelOptions {
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
