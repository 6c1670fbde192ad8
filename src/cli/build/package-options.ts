import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ESTree, parseAst } from "vite";
import { closestName } from "../../text/index.ts";
import { BuildError } from "../project/index.ts";
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
