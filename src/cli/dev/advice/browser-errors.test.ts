import { EventEmitter } from "node:events";
import type { HotPayload, Plugin } from "vite";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorLog } from "../../errors/index.ts";
import { ServedSourceMaps } from "../server/index.ts";
import { browserErrors } from "./browser-errors.ts";
import { explainOverlayErrors } from "./error-messages.ts";

/** Runs the hook of a plugin that receives the server, with a WebSocket that records what is sent to all pages. */
function startPlugin(plugin: Plugin) {
  const listeners = new EventEmitter();
  const sent: unknown[] = [];
  const hot = {
    on: (event: string, listener: (...args: unknown[]) => void) => listeners.on(event, listener),
    send: (payload: unknown) => void sent.push(payload),
  };
  const ws = { ...hot, off: () => undefined, clients: new Set([{}]) };
  const server = { environments: { client: { hot } }, ws, config: { root: "/app", publicDir: "/app/public" } };
  const { configureServer } = plugin;
  if (typeof configureServer !== "function") throw new Error("The plugin has no configureServer hook.");
  Reflect.apply(configureServer, undefined, [server]);
  return { listeners, sent, send: (payload: HotPayload) => hot.send(payload) };
}

describe("a report of a page", () => {
  let printed: string[];
  let listeners: EventEmitter;
  let maps: ServedSourceMaps;

  beforeEach(() => {
    printed = [];
    const errors = new ErrorLog("/app", (text) => printed.push(text));
    maps = new ServedSourceMaps();
    ({ listeners } = startPlugin(browserErrors(errors, maps)));
  });

  /** Returns the client of a page, as Vite passes it, and what it was sent. */
  function clientAt(remoteAddress: string | undefined) {
    const sent: unknown[][] = [];
    return { sent, send: (...args: unknown[]) => void sent.push(args), socket: { _socket: { remoteAddress } } };
  }

  const report = { name: "TypeError", message: "No ink", stack: "", overlay: true };

  it.each(["127.0.0.1", "::1", "::ffff:127.0.0.1"])("from %s is printed, and shown in its overlay", (address) => {
    const client = clientAt(address);
    listeners.emit("tsweb:error", report, client);
    expect(printed).toEqual(["\nTypeError: No ink\n"]);
    expect(client.sent).toEqual([[{ type: "error", err: { message: "TypeError: No ink", stack: "" } }]]);
  });

  it.each(["192.168.0.9", "::ffff:10.0.0.1", "", undefined])(
    "from another machine (%s) is ignored [DEV-18]",
    (address) => {
      const client = clientAt(address);
      listeners.emit("tsweb:error", report, client);
      listeners.emit("tsweb:warning", report, client);
      expect([printed, client.sent]).toEqual([[], []]);
    },
  );

  it("about a warning is printed, and sent back with its location for the console", () => {
    const client = clientAt("::1");
    listeners.emit("tsweb:warning", { name: "Error", message: "No keys", stack: "" }, client);
    expect(printed).toEqual(["\nWarning: No keys\n"]);
    expect(client.sent).toEqual([["tsweb:warning", { text: "Warning: No keys" }]]);
  });

  it("about a module that could not be loaded is ignored: the server has printed why", () => {
    const client = clientAt("::1");
    const cause = { name: "TypeError", message: "Failed to fetch dynamically imported module: http://x/y.tsx" };
    listeners.emit("tsweb:error", { name: "Error", message: "Cannot start view A", cause, overlay: true }, client);
    expect([printed, client.sent]).toEqual([[], []]);
  });

  it("about markup is printed once for each place, whatever the values in its message are", () => {
    vi.spyOn(maps, "includes").mockReturnValue(true);
    const reportText = (message: string, lineNumber: number) => {
      const source = { fileName: "src/view.tsx", lineNumber, columnNumber: 5 };
      listeners.emit("tsweb:error", { name: "Error", message, stack: "", source }, clientAt("::1"));
    };
    reportText('The server has rendered the text "12:01"', 4);
    reportText('The server has rendered the text "12:\\"02"', 4);
    expect(printed).toEqual(['\nError: The server has rendered the text "12:01"\nsrc/view.tsx:4:5\n']);
    reportText('The server has rendered the text "12:03"', 7);
    reportText("The server has rendered nothing", 7);
    expect(printed).toHaveLength(3);
  });

  it("is printed for each of its values if the application has thrown it", () => {
    vi.spyOn(maps, "find").mockReturnValue({ file: "/app/src/view.tsx", line: 4, column: 5 });
    for (const name of ["Ada", "Grace"]) {
      const stack = "    at http://localhost:1/own.js:1:2";
      listeners.emit("tsweb:error", { name: "Error", message: `"${name}" has signed`, stack }, clientAt("::1"));
    }
    expect(printed).toEqual([
      '\nError: "Ada" has signed\nsrc/view.tsx:4:5\n',
      '\nError: "Grace" has signed\nsrc/view.tsx:4:5\n',
    ]);
  });

  it("is ignored after 200 others of the page", () => {
    const client = clientAt("::1");
    for (let index = 0; index < 300; index++) {
      listeners.emit("tsweb:error", { ...report, message: `No ink ${index}` }, client);
    }
    expect(printed).toHaveLength(200);
    expect(client.sent).toHaveLength(200);
  });
});

describe("an error of Vite", () => {
  const payload: HotPayload = {
    type: "error",
    err: { message: "Unexpected token", stack: "", id: "/app/src/view.tsx", loc: { line: 3, column: 4 } },
  };

  it("is sent with a location that is relative to the project, and whose column counts from 1", async () => {
    const { sent, send } = startPlugin(explainOverlayErrors(new EventEmitter()));
    send(payload);
    await expect.poll(() => sent).toHaveLength(1);
    expect(sent).toMatchObject([{ err: { loc: { file: "src/view.tsx", line: 3, column: 5 } } }]);
  });

  it("is not sent if another file is edited at the same time: the edit may have fixed it", () => {
    vi.useFakeTimers();
    try {
      const edits = new EventEmitter();
      const { sent, send } = startPlugin(explainOverlayErrors(edits));
      send(payload);
      vi.advanceTimersByTime(100);
      edits.emit("all");
      vi.advanceTimersByTime(1_000);
      expect(sent).toEqual([]);
      send(payload);
      vi.advanceTimersByTime(1_000);
      expect(sent).toHaveLength(1);
      expect(edits.listenerCount("all")).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("in a server module is sent without its source", async () => {
    const { sent, send } = startPlugin(explainOverlayErrors(new EventEmitter()));
    send({ type: "error", err: { ...payload.err, message: "secret", frame: "secret", id: "/app/src/a.server.ts" } });
    await expect.poll(() => sent).toHaveLength(1);
    expect(JSON.stringify(sent)).not.toContain("secret");
  });
});
