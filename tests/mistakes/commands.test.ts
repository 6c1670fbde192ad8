/**
 * The mistakes that `tsc` and `tsweb build` report, each made in a guest book of its own. One `tsc` checks all of them, and one
 * process builds one after the other.
 */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { filesInMarkdown, readme } from "../dist/readme.ts";
import { createGuestBook, linkCompiler, makeMistake, problemsOf } from "./guest-book.ts";
import type { Mistake, Place } from "./mistake.ts";
import { rowsWith } from "./table.ts";

/** What a command has printed for one guest book, and its exit code. */
interface Finished {
  readonly code: number | null;
  readonly output: string;
}

/** The commands that check applications, by the place in which their messages appear. */
const COMMANDS = { types: checkTypes, build: buildEach } as const satisfies Partial<Record<Place, unknown>>;

describe.each(["types", "build"] as const)("%s", (command) => {
  const rows = rowsWith(command);
  let finished: ReadonlyMap<Mistake | undefined, Finished>;

  beforeAll(async () => {
    finished = await COMMANDS[command]([undefined, ...rows]);
  });

  it("succeeds without a mistake", () => {
    expect(finished.get(undefined)).toMatchObject({ code: 0 });
  });

  it.each(rows.map((row) => [row.mistake, row] as const))("gets a message: %s", (_mistake, row) => {
    const { code, output = "" } = finished.get(row) ?? {};
    expect(problemsOf(output.replace(ANSI, ""), row, command), output).toEqual([]);
    expect(code).not.toBe(0);
  });
});

const projects: TestProject[] = [];
afterAll(() => {
  for (const project of projects) project.remove();
});

/** Makes each mistake in a guest book of its own, and builds them. */
async function buildEach(rows: readonly (Mistake | undefined)[]): Promise<ReadonlyMap<Mistake | undefined, Finished>> {
  const created = rows.map((row) => {
    const project = createGuestBook();
    projects.push(project);
    makeMistake(project, row?.edits ?? []);
    return project;
  });
  const program = fileURLToPath(new URL("build-projects.mjs", import.meta.url));
  const { code, output } = await runProgram("/", [program, ...created.map(({ dir }) => dir)]);
  expect(code, output).toBe(0);
  const results: Finished[] = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(results, output).toHaveLength(rows.length);
  return new Map(rows.map((row, index) => [row, results[index] as Finished])); // as many as rows
}

/** Makes each mistake in a folder of one project, and checks the types of the project. */
async function checkTypes(rows: readonly (Mistake | undefined)[]): Promise<ReadonlyMap<Mistake | undefined, Finished>> {
  const files = [...filesInMarkdown(readme)];
  const copies = rows.flatMap((_row, index) => files.map(([name, text]) => [`${index}/${name}`, text] as const));
  const { compilerOptions } = JSON.parse(files.find(([name]) => name === "tsconfig.json")?.[1] ?? "{}");
  const project = TestProject.fromFiles({
    ...Object.fromEntries(copies),
    "tsconfig.json": JSON.stringify({ compilerOptions, include: ["*/src"] }),
  });
  projects.push(project);
  linkCompiler(project);
  project.installTsweb(); // `tsc` shows declarations of the package
  for (const [index, row] of rows.entries()) {
    makeMistake(project, row?.edits.map((edit) => ({ ...edit, file: `${index}/${edit.file}` })) ?? []);
  }
  const tsc = ["node_modules/typescript/bin/tsc", "--pretty", "--skipLibCheck"];
  const { output } = await runProgram(project.dir, tsc);
  const [errors = ""] = output.replace(ANSI, "").split(/^Found \d+ errors/m);
  const each = errors.split(/^(?=\d+\/\S+:\d+:\d+ - error )/m);
  return new Map(
    rows.map((row, index) => {
      const own = each.filter((error) => error.startsWith(`${index}/`));
      const text = own.join("").replace(new RegExp(`(?<![\\w.])${index}/`, "g"), "");
      return [row, { code: own.length > 0 ? 1 : 0, output: text }];
    }),
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with the control character ESC
const ANSI = /\u001b\[[0-9;]*m/g;
