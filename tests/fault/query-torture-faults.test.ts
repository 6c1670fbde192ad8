/**
 * The torture run for queries itself, with applications that have deliberate faults: it has to detect each of them.
 * `npm run torture -- queries` has more of them.
 */
import { cpSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildQueryTortureApp } from "#test/query-torture-app";
import { runQueryTorture } from "#test/query-torture-environment";
import type { QueryFaultKind } from "#test/query-torture-viewer";
import { TestProject } from "#test/test-project";

const SIZE = { boards: 2, viewers: 12, writers: 4, writes: 40, pauseMs: 30 };

/** A change of the built application. */
interface Fault {
  readonly title: string;
  readonly kind: QueryFaultKind;
  /** The text in `dist/app.mjs`, and what replaces it. */
  readonly search: string;
  readonly replacement: string;
}

const FAULTS: readonly Fault[] = [
  {
    title: "a run that takes its positions after the read",
    kind: "behind",
    search: "const outcome = await runner.run(call, this.#session);",
    replacement: `const outcome = await runner.run(call, this.#session);
      positions = isLive ? this.channels.take() : await this.channels.read();`,
  },
  {
    title: "values that are ordered by their positions",
    kind: "order",
    search: "this.#afterRun = this.#afterFailure = series.begun;",
    replacement: `this.#afterRun = this.#afterFailure = series.begun;
      const { version } = client;
      if (version && series.value?.positions.every((position, i) => position >= version.positions[i])) this.#afterRun = 0;`,
  },
  {
    title: "a page that keeps its value although a channel has passed it",
    kind: "behind",
    search: "const isOutdated = !positions || await channels.havePassed(positions, options);",
    replacement: "const isOutdated = !positions;",
  },
  {
    title: "a change during a run that is dropped",
    kind: "behind",
    search: "const outcome = await runner.run(call, this.#session);",
    replacement: `const outcome = await runner.run(call, this.#session);
      if (isLive) this.channels.take();`,
  },
  {
    title: "a patch that is applied to another value",
    kind: "value",
    search: 'update(json).digest("base64url")',
    replacement: 'update(String(json.length % 2)).digest("base64url")',
  },
  {
    title: "a value of one sign-in that is sent to another",
    kind: "session",
    search: 'session?.sid ?? ""',
    replacement: '"all"',
  },
  {
    title: "a run whose session is not noticed if its error is caught",
    kind: "session",
    search: 'return queryRun.hasReadSession ? { kind: "session" } : outcome;',
    replacement: "return outcome;",
  },
  {
    title: "runs of one query that overlap",
    kind: "overlap",
    search: "this.#isBusy = true;",
    replacement: "",
  },
];

/** The others take long, because only a viewer that stays behind shows them. */
const QUICK_KINDS: readonly QueryFaultKind[] = ["value", "session", "overlap"];
/** One fault of each of these kinds. */
const QUICK = QUICK_KINDS.flatMap((quick) => FAULTS.find(({ kind }) => kind === quick) ?? []);

const faults = process.env.TORTURE_SIZE === "full" ? FAULTS : QUICK;

let project: TestProject;

beforeAll(async () => {
  project = await buildQueryTortureApp();
});
afterAll(() => project?.remove());

describe("the torture run for queries", { concurrent: true }, () => {
  it.each(faults)("detects $title", async ({ kind, search, replacement }) => {
    const changed = TestProject.fromFiles({});
    try {
      cpSync(project.file("dist"), changed.file("dist"), { recursive: true });
      changed.edit("dist/app.mjs", search, replacement);
      const result = await runQueryTorture(changed, {
        ...{ size: SIZE, bus: "redis", seed: 7, processes: 1, calmRounds: 30, endsAt: kind },
      });
      expect(result.faults.map((fault) => fault.kind)).toContain(kind);
    } finally {
      changed.remove();
    }
  });
});
