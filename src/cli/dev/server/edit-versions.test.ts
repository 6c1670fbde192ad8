import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { listen } from "#test/listen";
import { EDIT_AGE_HEADER, EDITED_PATH, EDITS_PATH } from "../../../protocol/index.ts";
import { EditVersions } from "./edit-versions.ts";

describe("EditVersions", () => {
  let edits: EventEmitter;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    edits = new EventEmitter();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Returns a server that responds with the version at the start of the request, after `work`. */
  const start = async (versions: EditVersions, work: () => Promise<void> = async () => undefined) => {
    const server = await listen(
      versions.handle(async (_request, response) => {
        await work();
        response.end(versions.atRequest);
      }),
    );
    const read = async (path: string) => (await fetch(server.address + path)).text();
    return { version: () => read(EDITS_PATH), page: () => read("/"), close: () => server.close() };
  };

  it("responds with a text that changes with each edit, and again when Vite must have noticed the last one", async () => {
    const { version, close } = await start(new EditVersions(edits));
    const before = await version();
    edits.emit("all");
    edits.emit("all");
    const settling = await version();
    expect(settling).not.toBe(before);
    vi.advanceTimersByTime(499);
    expect(await version()).toBe(settling);
    vi.advanceTimersByTime(1);
    const settled = await version();
    expect([before, settling]).not.toContain(settled);
    expect(await version()).toBe(settled);
    await close();
  });

  it("clears the pages that the browser has prefetched, where a page reports an edit", async () => {
    const server = await listen(new EditVersions(edits).handle((_request, response) => response.end()));
    const cleared = async (path: string) => (await fetch(server.address + path)).headers.get("clear-site-data");
    expect(await cleared(EDITED_PATH)).toBe('"prefetchCache"');
    expect(await cleared(EDITS_PATH)).toBeNull();
    await server.close();
  });

  it("keeps the version at the start of a request, so that a page notices edits while it is rendered", async () => {
    const { version, page, close } = await start(new EditVersions(edits), async () => void edits.emit("all"));
    const before = await version();
    expect(await page()).toBe(before);
    expect(await version()).not.toBe(before);
    await close();
  });

  it("responds with the time since the last edit, in milliseconds", async () => {
    const { address, close } = await listen(new EditVersions(edits).handle(() => undefined));
    const age = async () => Number((await fetch(address + EDITS_PATH)).headers.get(EDIT_AGE_HEADER));
    const start = performance.now();
    edits.emit("all");
    expect(await age()).toBeLessThanOrEqual(performance.now() - start);
    const first = performance.now();
    edits.emit("all");
    const second = await age();
    expect(second).toBeGreaterThanOrEqual(0);
    expect(second).toBeLessThanOrEqual(performance.now() - first);
    await close();
  });

  it("differs between servers, so that a page notices that the development server was started again", async () => {
    const [first, second] = await Promise.all([start(new EditVersions(edits)), start(new EditVersions(edits))]);
    expect(await first.version()).not.toBe(await second.version());
    await Promise.all([first.close(), second.close()]);
  });
});
