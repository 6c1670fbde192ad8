/**
 * The applications of documents, with the modules of `fixtures/documents` that a document leaves to its reader. Their types and their
 * own tests are checked by one process each, once in a run of the tests.
 */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { repository } from "#test/copy-example";
import { documentedFiles } from "#test/documented-files";
import { oncePerRun } from "#test/once-per-run";
import { TestProject } from "#test/test-project";
import { filesInComments } from "../dist/readme.ts";

const FIXTURES = join(repository, "tests/compile/fixtures/documents");

/** The packages that the applications import, and those of their tools. */
const PACKAGES = ["@libsql", "@types", "openid-client", "postgres", "preact", "vite", "vitest", "zod"];

/** A change of an application, with which its tests run too: a check is forgotten, for example. */
export interface Edit {
  readonly name: string;
  readonly file: string;
  /** The text that is replaced, once. */
  readonly from: string;
  readonly to: string;
}

interface DocumentApplication {
  readonly files: Readonly<Record<string, string>>;
  readonly edits?: readonly Edit[];
}

const NOTES = "src/notes.server.ts";

/** A check that is forgotten, or a function that is added, in the notes of docs/signing-in.md. */
export const SIGNING_IN_EDITS: readonly Edit[] = [
  { name: "read_note", file: NOTES, from: "own_note(id).text);", to: 'notes.get(id)?.text ?? "");' },
  {
    name: "change_note",
    file: NOTES,
    from: "own_note(id).text = text;",
    to: "const note = notes.get(id); if (note) note.text = text;",
  },
  { name: "remove_note", file: NOTES, from: "  own_note(id);\n", to: "" },
  {
    name: "/notes/:id",
    file: NOTES,
    from: "if (notes.get(id)?.owner !== session.require().sub)",
    to: "if (!notes.has(id))",
  },
];

export const UNLISTED_FUNCTION: Edit = {
  name: "unlisted",
  file: NOTES,
  from: "export const read_note",
  to: "export const count_notes = server(async () => notes.size);\nexport const read_note",
};

/** Returns the board of docs/live.md, and its test in docs/tests-and-scripts.md. */
function liveFiles(): Record<string, string> {
  const shown = filesInComments(readFileSync(join(repository, "docs/live.md"), "utf8"));
  const test = documentedFiles("docs/tests-and-scripts.md");
  return Object.fromEntries([
    ...["board.server.ts", "pages.server.tsx", "board.tsx"].map((file) => [`src/${file}`, shown.get(file) ?? ""]),
    ...["tests/show.server.ts", "tests/board.test.ts"].map((file) => [file, test[file] ?? ""]),
  ]);
}

/** Returns edits of the board that do not publish, or publish in another channel. */
function liveEdits(board: string): Edit[] {
  const from = /^ *await publish\(.*$/m.exec(board)?.[0] ?? "";
  const file = "src/board.server.ts";
  return [
    { name: "unpublished", file, from, to: "" },
    { name: "other-channel", file, from, to: from.replace("board:", "boards:") },
  ];
}

/** Returns the applications of docs/live-recipes.md, and the loops of docs/live.md. */
function recipeFiles(): Record<string, string> {
  const live = documentedFiles("docs/live.md");
  const loops = ["src/imports.server.ts", "src/prices.server.ts"].map((file) => [file, live[file] ?? ""]);
  return { ...documentedFiles("docs/live-recipes.md"), ...Object.fromEntries(loops) };
}

/** The applications by the name of their document. */
const APPLICATIONS = {
  "api-keys": () => ({ files: documentedFiles("docs/api-keys.md") }),
  forms: () => ({ files: documentedFiles("docs/forms.md") }),
  live: () => {
    const files = liveFiles();
    return { files, edits: liveEdits(files["src/board.server.ts"] ?? "") };
  },
  "live-recipes": () => ({ files: recipeFiles() }),
  nextjs: () => ({ files: documentedFiles("docs/coming-from-nextjs.md") }),
  "signing-in": () => ({
    files: documentedFiles("docs/signing-in.md"),
    edits: [...SIGNING_IN_EDITS, UNLISTED_FUNCTION],
  }),
} satisfies Record<string, () => DocumentApplication>;

export type DocumentName = keyof typeof APPLICATIONS;

const template = (name: string) => readFileSync(join(repository, "template", name), "utf8");

/** Writes the application of a document into a folder, with the configuration of a new project. */
function writeApplication(dir: string, name: DocumentName): DocumentApplication {
  const application: DocumentApplication = APPLICATIONS[name]();
  const files = {
    "package.json": '{ "name": "site", "private": true, "type": "module" }\n',
    "tsconfig.json": template("tsconfig.json"),
    "vitest.config.ts": template("vitest.config.ts"),
    ...application.files,
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
  const fixture = join(FIXTURES, name);
  if (existsSync(fixture)) cpSync(fixture, dir, { recursive: true });
  return application;
}

/** Creates the application of a document in a temporary folder, to be run. The caller removes it. */
export function createDocumentProject(name: DocumentName): TestProject {
  const project = TestProject.fromFiles({});
  writeApplication(project.dir, name);
  project.linkPackages(repository, PACKAGES);
  return project;
}

/** The tests of an application, or of a copy of it with an edit. */
interface TestedApplication {
  readonly numPassed: number;
  /** The titles of the tests that have failed. */
  readonly failed: readonly string[];
  /** The error of a file that could not be loaded. */
  readonly message: string;
}

interface DocumentChecks {
  /** The output of the compiler about each application. */
  readonly typeErrors: Readonly<Record<string, string>>;
  /** By the name of the document, with `/` and the name of the edit for a copy. */
  readonly tests: Readonly<Record<string, TestedApplication>>;
}

/** Returns the errors of the compiler about the application of a document: an empty text if there are none. */
export async function typeErrorsOf(name: DocumentName): Promise<string | undefined> {
  return (await documentChecks()).typeErrors[name];
}

/** Returns the results of the tests of an application. @param edit the name of the edit that it has */
export async function testResultsOf(name: DocumentName, edit?: string): Promise<TestedApplication | undefined> {
  return (await documentChecks()).tests[edit === undefined ? name : `${name}/${edit}`];
}

async function documentChecks(): Promise<DocumentChecks> {
  const folder = await oncePerRun("documents", async (folder) => {
    const root = TestProject.fromFiles({ "vitest.config.ts": template("vitest.config.ts") });
    try {
      root.installTsweb(); // Vitest would compile the modules of a linked package
      root.linkPackages(
        repository,
        PACKAGES.filter((name) => !existsSync(root.file(`node_modules/${name}`))),
      );
      const checks: DocumentChecks = { typeErrors: await checkTypes(root.dir), tests: await runTests(root.dir) };
      writeFileSync(join(folder, "checks.json"), JSON.stringify(checks));
    } finally {
      root.remove();
    }
  });
  return JSON.parse(readFileSync(join(folder, "checks.json"), "utf8"));
}

const names = Object.keys(APPLICATIONS) as DocumentName[]; // the keys of this object are its names

/** Compiles all applications as one project, so that the declarations of packages are checked once. */
async function checkTypes(root: string): Promise<Record<string, string>> {
  for (const name of names) {
    const { files } = writeApplication(join(root, "types", name), name);
    const augmenting = Object.keys(files).filter((file) => /^\s*declare (?:module|global)\b/m.test(files[file] ?? ""));
    if (augmenting.length > 0) throw new Error(`${augmenting} of ${name} would change the types of all applications.`);
  }
  const { compilerOptions, include } = JSON.parse(template("tsconfig.json"));
  const all = { compilerOptions, include: names.flatMap((name) => include.map((path: string) => `${name}/${path}`)) };
  writeFileSync(join(root, "types/tsconfig.json"), JSON.stringify(all));
  const { status, stdout } = await runNode(join(root, "types"), "typescript/bin/tsc");
  const errors: Record<string, string> = Object.fromEntries(names.map((name) => [name, ""]));
  let current = "";
  for (const line of stdout.split("\n").filter((line) => line !== "")) {
    current = names.find((name) => line.startsWith(`${name}/`)) ?? current;
    if (errors[current] === undefined) throw new Error(`The compiler has failed:\n${stdout}`);
    errors[current] += `${line}\n`;
  }
  if (status !== 0 && stdout === "") throw new Error(`The compiler has exited with ${status}.`);
  return errors;
}

/** Runs the tests of the applications and of their copies in one process: each has modules of its own. */
async function runTests(root: string): Promise<Record<string, TestedApplication>> {
  const folders = new Map<string, string>();
  const write = (document: DocumentName, edit?: Edit): DocumentApplication => {
    const folder = `tests/${folders.size}`;
    folders.set(folder, edit === undefined ? document : `${document}/${edit.name}`);
    const application = writeApplication(join(root, folder), document);
    if (edit !== undefined) applyEdit(join(root, folder), edit);
    return application;
  };
  for (const name of names) {
    for (const edit of write(name).edits ?? []) write(name, edit);
  }
  const args = ["run", "--reporter=json", "--no-isolate", "--maxWorkers=1", "tests/"];
  const { stdout } = await runNode(root, "vitest/vitest.mjs", ...args);
  const { testResults } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
    testResults: { name: string; message: string; assertionResults: { title: string; status: string }[] }[];
  };
  return Object.fromEntries(
    testResults.map(({ name, message, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status !== "passed").map(({ title }) => title);
      const folder = /tests\/\d+(?=\/)/.exec(name.slice(root.length))?.[0] ?? "";
      return [folders.get(folder) ?? name, { numPassed: assertionResults.length - failed.length, failed, message }];
    }),
  );
}

function applyEdit(dir: string, { name, file, from, to }: Edit): void {
  const text = readFileSync(join(dir, file), "utf8");
  if (!text.includes(from)) throw new Error(`${file} does not contain the text that the edit ${name} replaces.`);
  writeFileSync(
    join(dir, file),
    text.replace(from, () => to),
  );
}

/** Runs a tool of this repository as a user does, without the variables of the test runner. */
async function runNode(cwd: string, module: string, ...args: string[]): Promise<{ status: number; stdout: string }> {
  const { NODE_ENV: _env, NODE_OPTIONS: _options, VITEST: _vitest, ...env } = process.env;
  const program = join(repository, "node_modules", module);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { cwd, env });
    return { status: 0, stdout };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string }; // execFile's own fields
    return { status: code, stdout };
  }
}
