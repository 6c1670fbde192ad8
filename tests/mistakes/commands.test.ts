/**
 * The mistakes that `tsc` and `tsweb build` report, each made in a guest book of its own. One `tsc` checks all of them. One build of an
 * application that contains all guest books reports what is wrong in single modules. One process builds the others one after the other.
 */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram, runTsweb } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { createGuestBook, createGuestBooks, makeMistake, problemsOf, withoutFolder } from "./guest-book.ts";
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

type Row = Mistake | undefined;

/** Builds a guest book with each mistake: together with the others, and on its own if that reports nothing about it. */
async function buildEach(rows: readonly Row[]): Promise<ReadonlyMap<Row, Finished>> {
  const project = createGuestBooks(rows.map((row) => row?.edits ?? []));
  projects.push(project);
  const imports = rows.map((_row, index) => `import "../${index}/src/app.ts";\n`).join("");
  project.write("src/app.ts", `import { App } from "tsweb";\n${imports}export default new App({ modules: [] });\n`);
  const together = outputOfEach(rows, (await runTsweb(project.dir, ["build"])).output, /^(?=\d+\/\S+:\d+:\d+$)/m);
  const reported = [...together].filter(([, { code }]) => code !== 0);
  // A mistake that the browser's build reports, or one in the whole application.
  const alone = rows.filter((row) => together.get(row)?.code === 0);
  return new Map([...(await buildAlone(alone)), ...reported]);
}

/** Makes each mistake in a project of its own, and builds one after the other. */
async function buildAlone(rows: readonly Row[]): Promise<ReadonlyMap<Row, Finished>> {
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

/** Makes each mistake, and checks the types of all guest books at once. */
async function checkTypes(rows: readonly Row[]): Promise<ReadonlyMap<Row, Finished>> {
  const project = createGuestBooks(rows.map((row) => row?.edits ?? []));
  projects.push(project);
  const { compilerOptions } = JSON.parse(project.read("0/tsconfig.json"));
  project.write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["*/src"] }));
  project.installTsweb(); // `tsc` shows declarations of the package
  const tsc = ["node_modules/typescript/bin/tsc", "--pretty", "--skipLibCheck"];
  const { output } = await runProgram(project.dir, tsc);
  const [errors = ""] = output.replace(ANSI, "").split(/^Found \d+ errors/m);
  return outputOfEach(rows, errors, /^(?=\d+\/\S+:\d+:\d+ - error )/m);
}

/** Returns the messages about each guest book in a folder of one project, as if it was alone: without the folder in names of files. */
function outputOfEach(rows: readonly Row[], output: string, start: RegExp): ReadonlyMap<Row, Finished> {
  const messages = output.replace(ANSI, "").split(start);
  return new Map(
    rows.map((row, index) => {
      const own = messages.filter((message) => message.startsWith(`${index}/`));
      return [row, { code: own.length > 0 ? 1 : 0, output: withoutFolder(own.join(""), index) }];
    }),
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with the control character ESC
const ANSI = /\u001b\[[0-9;]*m/g;
