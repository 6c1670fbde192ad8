/**
 * The thread that watches the event loop of `tsweb dev`. It writes to a pipe by itself: its messages to the main thread
 * would wait there.
 */
import { readFileSync, writeSync } from "node:fs";
import { type Debugger, Session } from "node:inspector";
import { SourceMap, type SourceMapPayload } from "node:module";
import { basename, join } from "node:path";
import { workerData } from "node:worker_threads";
import { codeFiles } from "./code-files.ts";
import type { WatchdogData } from "./dev.ts";
import { REPORT_DESCRIPTOR, type WatchdogReport } from "./messages.ts";

const CHECK_MS = 1_000;

/** The number of checks in a row after which a blocked event loop is reported: not a time, because a computer may sleep. */
const BLOCKED_CHECKS = 5;

/** How long to wait until the main thread pauses, in milliseconds. Native code, such as a synchronous read, cannot pause. */
const PAUSE_MS = 10_000;

const { beats, root, parent } = workerData as WatchdogData; // dev.ts has created this thread
const view = new Int32Array(beats);
let lastBeat = 0;
let blockedChecks = 0;

setInterval(() => {
  const beat = Atomics.load(view, 0);
  const wasBlocked = blockedChecks >= BLOCKED_CHECKS;
  blockedChecks = beat === lastBeat ? blockedChecks + 1 : 0;
  lastBeat = beat;
  // The main thread would notice that the parent was killed, and end this process.
  if (blockedChecks > 0 && process.ppid !== parent) process.kill(process.pid, "SIGKILL");
  if (blockedChecks === BLOCKED_CHECKS)
    void findLocation().then((location) => report({ isBlocked: true, ...location }));
  if (wasBlocked && blockedChecks === 0) report({ isBlocked: false });
}, CHECK_MS);

function report(line: WatchdogReport): void {
  writeSync(REPORT_DESCRIPTOR, `${JSON.stringify(line)}\n`);
}

/** Returns what the main thread is running, if it is code of the application. */
async function findLocation(): Promise<{ location?: string }> {
  const session = new Session();
  session.connectToMainThread();
  const sourceMapUrls = new Map<string, string>();
  session.on("Debugger.scriptParsed", ({ params: { scriptId, sourceMapURL } }) => {
    if (sourceMapURL) sourceMapUrls.set(scriptId, sourceMapURL);
  });
  try {
    const frames = await new Promise<readonly Debugger.CallFrame[]>((resolve) => {
      session.once("Debugger.paused", ({ params }) => resolve(params.callFrames));
      setTimeout(() => resolve([]), PAUSE_MS);
      session.post("Debugger.enable");
      session.post("Debugger.pause");
    });
    for (const { location } of frames) {
      const position = originalPosition(location, sourceMapUrls.get(location.scriptId) ?? "");
      if (position) return { location: position };
    }
    return {};
  } finally {
    session.disconnect(); // the main thread continues
  }
}

/** Returns the position of a call frame in a file of the application. Vite's modules have source maps in data URLs. */
function originalPosition({ lineNumber, columnNumber = 0 }: Debugger.Location, mapUrl: string): string | undefined {
  const [, base64] = /^data:application\/json;[^,]*base64,(.*)$/.exec(mapUrl) ?? [];
  if (base64 === undefined) return undefined;
  const map: SourceMapPayload = JSON.parse(Buffer.from(base64, "base64").toString());
  const entry = new SourceMap(map).findEntry(lineNumber, columnNumber);
  if (!("originalSource" in entry)) return undefined;
  const file = findSource(entry.originalSource, map.sourcesContent[map.sources.indexOf(entry.originalSource)]);
  return file && `${file}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

/** Returns the path of a source, relative to the project's folder. Vite's source maps contain the name of the file only. */
function findSource(name: string, text: string | undefined): string | undefined {
  const files = codeFiles(root).filter((file) => basename(file) === basename(name));
  return files.find((file) => readFileSync(join(root, file), "utf8") === text);
}
