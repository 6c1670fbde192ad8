/** The mistakes that `tsc` and `tsweb build` report, each made in the guest book. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram, runTsweb } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { createGuestBook, makeMistake, problemsOf } from "./guest-book.ts";
import type { Place } from "./mistake.ts";
import { rowsWith } from "./table.ts";

/** What a command has printed, and its exit code. */
interface Finished {
  readonly code: number | null;
  readonly output: string;
}

/** The commands that check an application, by the place in which their message appears. */
const COMMANDS = {
  types: (dir: string) => runProgram(dir, ["node_modules/typescript/bin/tsc", "--pretty", "--skipLibCheck"]),
  build: (dir: string) => runTsweb(dir, ["build"]),
} as const satisfies Partial<Record<Place, (dir: string) => Promise<Finished>>>;

describe.each(["types", "build"] as const)("%s", (command) => {
  const rows = rowsWith(command);
  let project: TestProject;

  beforeAll(() => {
    project = createGuestBook();
    if (command === "types") project.installTsweb(); // `tsc` shows declarations of the package
  });

  afterAll(() => project?.remove());

  it("succeeds without a mistake", async () => {
    expect(await COMMANDS[command](project.dir)).toMatchObject({ code: 0 });
  });

  it.each(rows.map((row) => [row.mistake, row] as const))("gets a message: %s", async (_mistake, row) => {
    const restore = makeMistake(project, row.edits);
    const { code, output } = await COMMANDS[command](project.dir);
    restore();
    expect(problemsOf(output.replace(ANSI, ""), row, command), output).toEqual([]);
    expect(code).not.toBe(0);
  });
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with the control character ESC
const ANSI = /\u001b\[[0-9;]*m/g;
