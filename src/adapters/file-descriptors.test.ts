import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { guardFileDescriptors, maxConnectionsFor, parseOpenFileLimit, warnIfLimitIsLow } from "./file-descriptors.ts";

describe("the limit of open files", () => {
  it.each([
    ["Max processes  7 7 processes\nMax open files            160                  4096                 files \n", 160],
    ["Max open files            unlimited            unlimited            files \n", Number.POSITIVE_INFINITY],
    ["Max processes             100                  100                  processes \n", null],
    ["", null],
  ])("is read from %j as %s", (text, limit) => {
    expect(parseOpenFileLimit(text)).toBe(limit);
  });

  it.each([
    [160, 20, 108],
    [1_024, 24, 872],
    [1_048_576, 24, 1_048_296],
    [Number.POSITIVE_INFINITY, 24, Number.POSITIVE_INFINITY],
    [40, 24, 1],
  ])("of %d, with %d open files, allows %d connections", (limit, open, connections) => {
    expect(maxConnectionsFor({ limit, open })).toBe(connections);
  });

  it.each([
    [4_095, 1],
    [4_096, 0],
    [4_097, 0],
    [Number.POSITIVE_INFINITY, 0],
  ])("of %d causes %d warnings", (limit, count) => {
    const { log, lines } = recordedLog();
    warnIfLimitIsLow({ limit, open: 20 }, log);
    expect(lines.map(({ level }) => level)).toEqual(Array(count).fill("warn"));
  });

  it("causes no warning where it is not known", () => {
    const { log, lines } = recordedLog();
    warnIfLimitIsLow(null, log);
    expect(lines).toEqual([]);
  });
});

describe("a shortage of file descriptors", () => {
  let server: Server;
  beforeEach(() => {
    vi.useFakeTimers();
    server = createServer();
  });
  afterEach(() => {
    server.emit("close");
    vi.useRealTimers();
  });

  it("is logged once with the fix, then its end, then the next one", () => {
    const { log, lines } = recordedLog();
    guardFileDescriptors(server, { use: { limit: 160, open: 20 }, log });
    expect(server.maxConnections).toBe(108);
    for (let n = 0; n < 100; n++) server.emit("drop");
    vi.advanceTimersByTime(9_000);
    server.emit("drop");
    expect(lines).toEqual([
      { level: "error", fields: { limit: 160, maxConnections: 108 }, message: expect.stringMatching(/ulimit -n/) },
    ]);
    vi.advanceTimersByTime(11_000);
    server.emit("drop");
    expect(lines.map(({ level }) => level)).toEqual(["error", "info", "error"]);
  });

  it("that prevents accepting a connection does not end the process", () => {
    const { log, lines } = recordedLog();
    guardFileDescriptors(server, { use: null, log });
    server.emit("error", Object.assign(new Error("accept EMFILE"), { code: "EMFILE" }));
    expect(lines[0]?.message).toContain("EMFILE");
  });

  it("closes idle connections", () => {
    const closeIdle = vi.spyOn(server, "closeIdleConnections");
    guardFileDescriptors(server, { use: null, log: recordedLog().log });
    vi.advanceTimersByTime(1_000);
    expect(closeIdle).not.toHaveBeenCalled();
    server.emit("drop");
    vi.advanceTimersByTime(1_000);
    expect(closeIdle).toHaveBeenCalled();
  });
});
