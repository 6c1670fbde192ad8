import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import type { LiveConnection } from "../live/index.ts";
import { type AppInternals, requireInternals } from "../server/index.ts";
import { DevelopmentPanel } from "./index.ts";
import type { ChangedPart } from "./panel-data.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function createPanel(env: Readonly<Record<string, string>> = {}) {
  const app = createTestApp({ run: compiledServer("run", () => 0) }, { env: { WEB_ENV: "development", ...env } });
  const internals = requireInternals(app, "test");
  const state = { isOpen: false, error: null as Error | null };
  const panel = new DevelopmentPanel({
    loadApp: async () => {
      if (state.error) throw state.error;
      return { config: app.config, internals };
    },
    explain: async (error) => ({ type: "Error", message: String(error), location: "a.ts:1:1", frame: "", stack: "" }),
    isOpen: () => state.isOpen,
  });
  const notified: (readonly ChangedPart[])[] = [];
  panel.onChange((parts) => notified.push(parts));
  return { panel, internals, state, notified };
}

/** Internals of an application with these connections. */
const withConnections = (internals: AppInternals, connections: readonly LiveConnection[]): AppInternals => ({
  ...internals,
  liveConnections: () => connections,
});

const connectionOf = (channel: string, position: string) =>
  ({ readers: [{ channel, position, isEnded: false }] }) as unknown as LiveConnection; // what the panel reads of it

describe("the panel", () => {
  it("records nothing before it is opened", () => {
    const { panel, notified } = createPanel();
    panel.changed("application");
    vi.advanceTimersByTime(10_000);
    expect([panel.observer, notified, vi.getTimerCount()]).toEqual([undefined, [], 0]);
  });

  it("records while it is open, and until a minute after it was closed", () => {
    const { panel, state } = createPanel();
    panel.opened();
    state.isOpen = true;
    vi.advanceTimersByTime(300_000);
    expect(panel.observer).toBeDefined();
    state.isOpen = false;
    vi.advanceTimersByTime(59_000);
    expect(panel.observer).toBeDefined();
    vi.advanceTimersByTime(3_000);
    expect([panel.observer, vi.getTimerCount()]).toEqual([undefined, 0]);
    panel.opened();
    expect(panel.observer).toBeDefined();
  });

  it("is notified of all changes within a fifth of a second at once", () => {
    const { panel, notified } = createPanel();
    panel.opened();
    panel.observer?.published("news", "1");
    panel.observer?.published("news", "2");
    panel.changed("application");
    expect(notified).toEqual([]);
    vi.advanceTimersByTime(200);
    expect(notified).toEqual([["live", "application"]]);
    expect(panel.live().messages.map(({ json }) => json)).toEqual(["1", "2"]);
  });

  it("shows the connections of the application, also those to the one before an edit, and is notified of changes", () => {
    const { panel, internals, notified } = createPanel();
    const before: LiveConnection[] = [connectionOf("news", "1")];
    panel.opened();
    panel.addApp(withConnections(internals, before));
    panel.addApp(withConnections(internals, [connectionOf("room", "7")]));
    expect(panel.live().connections).toEqual([
      { id: 1, feeds: [{ channel: "news", position: "1", hasEnded: false }] },
      { id: 2, feeds: [{ channel: "room", position: "7", hasEnded: false }] },
    ]);
    vi.advanceTimersByTime(1_200);
    expect(notified).toEqual([["live"]]);
    vi.advanceTimersByTime(5_000);
    expect(notified).toHaveLength(1);
    before.length = 0;
    vi.advanceTimersByTime(1_200);
    expect(notified).toHaveLength(2);
    expect(panel.live().connections.map(({ id }) => id)).toEqual([2]);
  });

  it("describes the application, or the error that prevents it from loading", async () => {
    const { panel, state } = createPanel();
    expect(await panel.application()).toMatchObject({ functions: [{ name: "run" }], error: null });
    state.error = new Error("broken");
    expect(await panel.application()).toMatchObject({ functions: [], error: { message: "Error: broken" } });
  });

  it("issues a CSRF token only if the application requires one", async () => {
    expect(await createPanel().panel.csrfToken(undefined)).toBe(null);
    expect(await createPanel({ WEB_CSRF_SECRET: "5a".repeat(32) }).panel.csrfToken("a=b")).toMatch(/^[\w-]{64}$/);
  });
});
