/** The mistakes that `tsc` and `tsweb build` report. Each is made in a copy of the guest book; two run at a time. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram, runTsweb } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { createGuestBook, makeMistake, problemsOf } from "./guest-book.ts";
import type { Mistake, Place } from "./mistake.ts";
import { rowsWith } from "./table.ts";

/** What a command has printed, and its exit code. */
interface Finished {
  readonly code: number | null;
  readonly output: string;
}

/** The commands that check an application, by the place in which their message appears. */
const COMMANDS = {
  types: (dir: string) => runProgram(dir, ["node_modules/typescript/bin/tsc", "--pretty"]),
  build: (dir: string) => runTsweb(dir, ["build"]),
} as const satisfies Partial<Record<Place, (dir: string) => Promise<Finished>>>;

const projects: TestProject[] = [];

afterAll(() => {
  for (const project of projects) project.remove();
});

/** Runs a command in a guest book with a mistake, or without one. */
async function run(command: keyof typeof COMMANDS, row?: Mistake): Promise<Finished> {
  const project = createGuestBook();
  projects.push(project);
  if (row) makeMistake(project, row.edits);
  return COMMANDS[command](project.dir);
}

/** Runs functions, two at a time. */
async function runTwoAtATime(functions: readonly (() => Promise<void>)[]): Promise<void> {
  const waiting = [...functions];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await next();
  };
  await Promise.all([work(), work()]);
}

describe.each(["types", "build"] as const)("%s", (command) => {
  const rows = rowsWith(command);
  const finished = new Map<Mistake | undefined, Finished>();

  beforeAll(
    () => runTwoAtATime([undefined, ...rows].map((row) => async () => void finished.set(row, await run(command, row)))),
    600_000,
  );

  it("succeeds without a mistake", () => {
    expect(finished.get(undefined)).toMatchObject({ code: 0 });
  });

  it.each(rows.map((row) => [row.mistake, row] as const))("gets a message: %s", (_mistake, row) => {
    const { code, output = "" } = finished.get(row) ?? {};
    expect(problemsOf(output.replace(ANSI, ""), row, command), output).toEqual([]);
    expect(code).not.toBe(0);
  });
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with the control character ESC
const ANSI = /\u001b\[[0-9;]*m/g;
