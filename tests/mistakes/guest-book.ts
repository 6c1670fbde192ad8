/** The guest book of the README, in which the mistakes are made. */
import { existsSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { repository } from "#test/copy-example";
import { TestProject } from "#test/test-project";
import { filesInMarkdown, readme } from "../dist/readme.ts";
import type { Edit, Mistake, Place } from "./mistake.ts";

/** Creates a project with the files of the README, and the packages that the README installs. */
export function createGuestBook(): TestProject {
  const project = TestProject.fromFiles(Object.fromEntries(filesInMarkdown(readme)));
  linkCompiler(project);
  return project;
}

/**
 * Creates a project with a guest book in each of its folders `0`, `1` and so on, and makes a mistake in each.
 *
 * @param mistakes the edits of each guest book
 */
export function createGuestBooks(mistakes: readonly (readonly Edit[])[]): TestProject {
  const files = [...filesInMarkdown(readme)];
  const copies = mistakes.flatMap((_edits, index) => files.map(([name, text]) => [`${index}/${name}`, text] as const));
  const project = TestProject.fromFiles(Object.fromEntries(copies));
  linkCompiler(project);
  for (const [index, edits] of mistakes.entries()) {
    const inFolder = edits.map((edit) => ({ ...edit, file: `${index}/${edit.file}` }));
    makeMistake(project, inFolder);
  }
  return project;
}

/** Returns a text about a guest book of {@link createGuestBooks} as if it was alone: without the folder in names of files. */
export function withoutFolder(text: string, index: number): string {
  return text.replace(new RegExp(`(?<![\\w.])${index}/`, "g"), "");
}

/** Links the packages that the README installs besides tsweb. */
function linkCompiler(project: TestProject): void {
  project.linkPackages(repository, ["@types", "typescript"]);
}

/**
 * Makes a mistake.
 *
 * @returns a function that restores the files
 * @throws Error if the text that an edit replaces does not occur exactly once
 */
export function makeMistake(project: TestProject, edits: readonly Edit[]): () => void {
  const restores: (() => void)[] = [];
  const restoreAll = () => {
    for (const restore of restores.toReversed()) restore();
  };
  try {
    for (const edit of edits) restores.push(apply(project, edit));
  } catch (error) {
    restoreAll();
    throw error;
  }
  return restoreAll;
}

function apply(project: TestProject, { file, from, to }: Edit): () => void {
  if (from !== undefined) {
    const count = project.read(file).split(from).length - 1;
    if (count !== 1) throw new Error(`${file} contains ${JSON.stringify(from)} ${count} times instead of once.`);
    return project.edit(file, from, to);
  }
  const before = existsSync(project.file(file)) ? project.read(file) : undefined;
  project.write(file, to);
  return () => (before === undefined ? rmSync(project.file(file)) : project.write(file, before));
}

/** What a message lacks, as sentences; empty if it is the message of a row. */
export function problemsOf(text: string, { says, fix, at }: Mistake, place: Place): string[] {
  const includes = (part: string | RegExp) => (typeof part === "string" ? text.includes(part) : part.test(text));
  const problems: string[] = [];
  if (!includes(says)) problems.push(`does not say what is wrong: ${says}`);
  if (!includes(fix)) problems.push(`does not say how to fix it: ${fix}`);
  const locations = text.split(at).filter((rest, index) => index > 0 && !/^\d/.test(rest)).length;
  if (locations === 0 || !isFileAndLine(at)) problems.push(`does not name the location ${at}`);
  else if (place === "terminal" && locations > 1) problems.push(`names the location ${at} ${locations} times`);
  for (const [name] of text.matchAll(INTERNAL_NAME))
    problems.push(`names a file that the developer does not have: ${name}`);
  return problems.map((problem) => `The message in the ${place} ${problem}.`);
}

/** A file with a line, or in a Vite config or package.json without one. */
function isFileAndLine(at: string): boolean {
  return /^[\w./[\]-]+:\d+(?::\d+)?$/.test(at) || /^(?:vite\.config\.ts|package\.json|tsconfig\.json)$/.test(at);
}

/**
 * Names of files that only exist inside of the tools, and of tsweb's own files: as an absolute path, or relative to the
 * project. The files of an installed package below `node_modules` are files of the project.
 */
const INTERNAL_NAME = new RegExp(
  `\\S*(?:node_modules/\\.vite|/@fs/|/@id/|[?&]t=\\d{13}|tsweb-stub:|virtual:|(?<!node_modules)/${escaped(basename(repository))}/dist/)\\S*`,
  "g",
);

function escaped(name: string): string {
  return name.replace(/[^\w-]/g, "\\$&");
}
