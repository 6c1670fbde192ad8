/** The options of `"tsweb"` in a project's package.json, and the files that its `include` copies into the build. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createFilter, type ESTree, normalizePath, parseAst } from "vite";
import { closestName } from "../../text/index.ts";
import { BuildError, relativeFile } from "../project/index.ts";
import { BUDGET_KINDS, type Budget, type BudgetKind, type Limit } from "../sizes/index.ts";

/** A value of package.json, and where it is. */
export interface PackageValue {
  readonly value: unknown;
  /** Returns the error about this value, with its location. */
  error(message: string): BuildError;
  /** Returns the error about the name of a member, with the location of the name. */
  nameError(name: string, message: string): BuildError;
  /** Returns a member of an object; `undefined` if it is absent. */
  member(name: string): PackageValue | undefined;
  /** For example `package.json:7:14`. */
  readonly location: string;
}

const MEMBERS = ["include", "budget"];

const EXAMPLE = '"tsweb": { "include": ["drizzle/**"], "budget": { "script": "20 kB", "style": "10 kB" } }';

/**
 * Returns the value of `"tsweb"` in a project's package.json; `undefined` if it is absent.
 *
 * @throws BuildError for a file that is not JSON, a value that is not an object, a member that does not exist, and a
 *   misspelled `"tsweb"`, which would be ignored
 */
export function readPackageOptions(root: string): PackageValue | undefined {
  const file = join(root, "package.json");
  if (!existsSync(file)) return undefined;
  const content = parsePackage(readFileSync(file, "utf8"));
  checkName(content);
  const options = content.member("tsweb");
  if (options) checkMembers(options, '"tsweb"', { names: MEMBERS, example: EXAMPLE });
  return options;
}

/**
 * Returns the error, with its location, that a build would report about `"tsweb"` in package.json; `undefined` if it is valid.
 * Whether the patterns match files is not checked: a script may create the files before the build.
 */
export function packageOptionsProblem(root: string): string | undefined {
  try {
    const options = readPackageOptions(root);
    readBudget(options);
    readIncludePatterns(options);
    return undefined;
  } catch (error) {
    if (error instanceof BuildError) return error.message;
    throw error;
  }
}

/** @throws BuildError at a member that is certainly meant to be `"tsweb"`, such as `"tsWeb"` */
function checkName(content: PackageValue): void {
  const { value } = content;
  if (typeof value !== "object" || value === null) return;
  const misspelled = Object.keys(value).find(
    (name) => name !== "tsweb" && name.replace(/[\s_-]/g, "").toLowerCase() === "tsweb",
  );
  if (misspelled === undefined) return;
  throw content.nameError(
    misspelled,
    `The options of tsweb are ignored here: the member is "${misspelled}". Write it in lower case: ${EXAMPLE}.`,
  );
}

/**
 * Checks that a value is an object with known members only.
 *
 * @throws BuildError at the value, or at the name of the first unknown member
 */
function checkMembers(
  options: PackageValue,
  title: string,
  { names, example }: { readonly names: readonly string[]; readonly example: string },
): void {
  const { value } = options;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw options.error(`${title} is ${JSON.stringify(value)}. Expected ${example}.`);
  }
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const meant = closestName(unknown, names);
  const question = meant === undefined ? "" : ` Did you mean "${meant}"?`;
  throw options.nameError(unknown, `${title} has the unknown member "${unknown}".${question} Expected ${example}.`);
}

/**
 * Reads the text of a package.json. JSON is an expression of JavaScript, so the parser of Vite finds the positions of its
 * values.
 */
function parsePackage(text: string): PackageValue {
  const json = text.replace(/^\uFEFF/, "");
  const value = parseJson(json);
  // In parentheses, an object is not a block.
  const [statement] = parseAst(`(${json}\n)`, { lang: "js", preserveParens: false }).body;
  const locate = (offset: number) => {
    const before = json.slice(0, offset - 1).split("\n");
    return `package.json:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
  };
  return packageValue(value, statement?.type === "ExpressionStatement" ? statement.expression : undefined, locate);
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BuildError(`package.json is not valid JSON: ${reason}. Correct it.`, { cause: error });
  }
}

function packageValue(value: unknown, node: ESTree.Node | undefined, locate: (offset: number) => string): PackageValue {
  const location = node ? locate(node.start) : "package.json";
  const propertyOf = (name: string) =>
    node?.type === "ObjectExpression"
      ? // The last member counts if several have one name.
        node.properties.findLast(
          (property) => property.type === "Property" && property.key.type === "Literal" && property.key.value === name,
        )
      : undefined;
  return {
    value,
    location,
    error: (message) => new BuildError(`${location}\n${message}`),
    nameError(name, message) {
      const property = propertyOf(name);
      return new BuildError(`${property ? locate(property.start) : location}\n${message}`);
    },
    member(name) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
      const property = propertyOf(name);
      const inner = property?.type === "Property" ? property.value : undefined;
      return packageValue(Reflect.get(value, name), inner, locate);
    },
  };
}

const BUDGET_EXAMPLE = '"budget": { "script": "20 kB", "style": "10 kB" }';

const BYTES_PER_UNIT: Readonly<Record<string, number>> = { B: 1, kB: 1000 };

/**
 * Reads the budget from the value of `"tsweb"` in package.json.
 *
 * @throws BuildError for an unknown member, or a value that is not a size
 */
export function readBudget(options: PackageValue | undefined): Budget {
  const budget = options?.member("budget");
  if (!budget) return {};
  checkMembers(budget, '"budget"', { names: BUDGET_KINDS, example: BUDGET_EXAMPLE });
  const limits = BUDGET_KINDS.flatMap((kind) => {
    const limit = budget.member(kind);
    return limit ? [[kind, readLimit(limit, kind)] as const] : [];
  });
  return Object.fromEntries(limits);
}

function readLimit(limit: PackageValue, kind: BudgetKind): Limit {
  const { value, location } = limit;
  const bytes = typeof value === "string" ? parseSize(value) : value;
  if (typeof bytes === "number" && Number.isFinite(bytes) && bytes >= 0) return { bytes, location };
  throw limit.error(
    `"${kind}" of "budget" is ${JSON.stringify(value)}, which is not a size. Write a number with the unit kB (1000 bytes) or B, ` +
      'such as "20 kB", or a number of bytes.',
  );
}

function parseSize(text: string): number | undefined {
  const { number = "", unit = "" } = /^(?<number>\d+(?:\.\d+)?) ?(?<unit>k?B)$/.exec(text)?.groups ?? {};
  const factor = BYTES_PER_UNIT[unit];
  return factor === undefined ? undefined : Number(number) * factor;
}

/** Folders of which nothing is copied, at any level. */
const EXCLUDED_FOLDERS: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** The names at the top of `dist/` that the build itself writes. */
const BUILD_OUTPUT =
  /^(?:client|dist|node_modules|\.compile-cache|(?:app|server|manifest|workers|compile-cache|json-line|log-output|metrics-relay|serialize-error|source-maps)\.mjs(?:\.map)?)$/;

/** Files with environment variables. They belong to a machine and not to a build. */
const ENV_FILE = /^\.env(?:\.|$)/i;

const EXPECTED_INCLUDE = 'Expected "tsweb": { "include": ["drizzle/**"] }.';

/**
 * Returns the patterns of `"tsweb": { "include": […] }` in a project's package.json.
 *
 * @param options the value of `"tsweb"`
 * @throws BuildError for a value that is not a list of patterns below the project's folder
 */
export function readIncludePatterns(options: PackageValue | undefined): readonly string[] {
  const include = options?.member("include");
  if (!include) return [];
  const { value } = include;
  if (!Array.isArray(value)) throw include.error(`"include" is ${JSON.stringify(value)}. ${EXPECTED_INCLUDE}`);
  return value.map((pattern: unknown) => checkPattern(pattern, include));
}

function checkPattern(pattern: unknown, include: PackageValue): string {
  const refuse = (problem: string) =>
    include.error(`"include" has the pattern ${JSON.stringify(pattern)}, which ${problem}. ${EXPECTED_INCLUDE}`);
  if (typeof pattern !== "string" || pattern === "" || pattern.includes("\0")) throw refuse("is not a pattern");
  if (/^[/\\]|^[a-z]:/i.test(pattern)) throw refuse("is not relative to the project's folder");
  if (pattern.includes("\\") || pattern.startsWith("!")) throw refuse("contains a backslash, or a ! at its start");
  const names = pattern.replace(/^\.\//, "").split("/");
  if (names.includes("..")) throw refuse("may leave the project's folder");
  if (names.some((name) => EXCLUDED_FOLDERS.has(name))) throw refuse("names a folder that is never copied");
  if (ENV_FILE.test(names.at(-1) ?? "")) throw refuse("names environment variables, which no build contains");
  if (BUILD_OUTPUT.test(names[0] ?? "")) throw refuse(`would replace a file of the build in dist/`);
  return names.join("/");
}

/** The files of a project that its build contains in addition to its modules. Paths are relative, with forward slashes. */
export interface IncludedFiles {
  readonly files: readonly string[];
  /** The files that match and are not copied, because they may contain secrets. */
  readonly refused: readonly string[];
}

/**
 * Returns the files that patterns match. A pattern without a wildcard can also name a folder, of which all files match.
 *
 * @throws BuildError for a pattern that matches no file, and for a link that leads out of the project's folder
 */
export function findIncluded(root: string, patterns: readonly string[]): IncludedFiles {
  const found = new Set<string>();
  const refused = new Set<string>();
  for (const pattern of patterns) {
    const start = staticPart(pattern);
    const isMatch = createFilter([pattern, `${pattern.replace(/\/$/, "")}/**`], null, { resolve: root });
    const matches = filesBelow(root, start).filter((file) => isMatch(normalizePath(join(root, file))));
    const copied = matches.filter((file) => !isSecret(root, file));
    for (const file of matches) (isSecret(root, file) ? refused : found).add(file);
    if (copied.length === 0) {
      throw new BuildError(
        `package.json: "include" has the pattern "${pattern}", which matches no file that can be copied. Correct or remove it.`,
      );
    }
  }
  return { files: [...found].sort(), refused: [...refused].sort() };
}

/** Returns the folder or file before the first wildcard of a pattern; an empty text for the project's folder. */
function staticPart(pattern: string): string {
  const names = pattern.split("/");
  const first = names.findIndex((name) => /[*?[\]{}()!+@]/.test(name));
  return (first < 0 ? names : names.slice(0, first)).join("/");
}

/** Returns whether a file contains environment variables, by its name or by that of its target. */
function isSecret(root: string, file: string): boolean {
  const names = [file, relativeFile(realpathSync(root), realpathSync(join(root, file)))];
  return names.some((name) => name.split("/").some((part) => ENV_FILE.test(part)));
}

/** Returns all files of a folder, or the file itself. Links are followed within the project. */
function filesBelow(root: string, path: string, parents: readonly string[] = []): string[] {
  const absolute = join(root, path);
  if (!existsSync(absolute)) return [];
  const target = realpathSync(absolute);
  requireInProject(root, path, target);
  if (!statSync(target).isDirectory()) return statSync(target).isFile() ? [path] : [];
  if (parents.includes(target)) return []; // a link to a folder above it
  return readdirSync(target)
    .filter(
      (name) => !EXCLUDED_FOLDERS.has(name) && !(path === "" && (BUILD_OUTPUT.test(name) || /^\.dist-\d+$/.test(name))),
    )
    .sort()
    .flatMap((name) =>
      filesBelow(root, path === "" ? name : `${path.replace(/\/$/, "")}/${name}`, [...parents, target]),
    );
}

function requireInProject(root: string, path: string, target: string): void {
  const below = relativeFile(realpathSync(root), target);
  const isOutside = below.startsWith("../") || below === ".." || /^(?:\/|[a-z]:)/i.test(below);
  if (!isOutside && !below.split("/").some((name) => EXCLUDED_FOLDERS.has(name))) return;
  throw new BuildError(
    `package.json: "include" matches ${path}, a link to ${target}, which is not copied. Copy the file into the project, or ` +
      "change the pattern.",
  );
}

/** Copies files into the build, to the same paths. Links are replaced by their targets. */
export async function copyIncluded(root: string, files: readonly string[], outDir: string): Promise<void> {
  for (const file of files) {
    const target = join(outDir, file);
    await mkdir(dirname(target), { recursive: true });
    await cp(join(root, file), target, { dereference: true, errorOnExist: true, force: false });
  }
}
