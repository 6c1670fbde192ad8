import { readFileSync } from "node:fs";
import { posix } from "node:path";
import type { ESTree } from "vite";
import { closestName } from "../../text/index.ts";
import { locationIn, type ModuleFacts, type ModuleResolver, relativePath } from "../modules/index.ts";
import { CompileError, memberName, type Node, nodesOf } from "../syntax/index.ts";

/**
 * Rejects a member of the default import of a style sheet that is no CSS module: the import is undefined.
 *
 * Errs towards silence: other uses of the import, imports with a query, and files in other languages than CSS are not checked.
 *
 * @throws CompileError at the name of the import
 */
export async function checkStyleSheetImports(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  for (const statement of facts.program.body) {
    if (statement.type !== "ImportDeclaration" || !/^\.{1,2}\/.*(?<!\.module)\.css$/i.test(statement.source.value))
      continue;
    const specifier = statement.specifiers.find(({ type }) => type === "ImportDefaultSpecifier");
    if (!specifier || !readsMember(facts, specifier)) continue;
    const id = await resolver.resolve(statement.source.value, facts.source.file);
    if (!id || !/(?<!\.module)\.css$/i.test(id)) continue; // style.css.ts
    const name = posix.basename(id);
    throw new CompileError(
      `${relativePath(id, resolver.root)} is a plain style sheet, so \`${specifier.local.name}\` is undefined. To import its ` +
        `class names, rename it to ${name.replace(/\.css$/i, ".module.css")}. Otherwise write \`import "${statement.source.value}"\` and the ` +
        'class names as text: `class="main"`.',
      facts.source,
      specifier.local,
    );
  }
}

/** Returns whether the module reads a member of an import, as in `styles.main`. */
function readsMember({ scopes }: ModuleFacts, specifier: ESTree.ImportDeclarationSpecifier): boolean {
  return nodesOf(scopes, "MemberExpression").some(
    ({ node, scope }) =>
      !node.optional &&
      node.object.type === "Identifier" &&
      node.object.name === specifier.local.name &&
      scope.findValue(node.object.name)?.declarations[0] === specifier,
  );
}

/** What can give a CSS module names that are not in its text: other files, mixins, loops and concatenated selectors. */
const GENERATED =
  /&[\w-]|[#$]\{|@(?:import|value|include|mixin|define-mixin|each|for|use|forward|extend|tailwind|plugin)\b|:(?:import|export)\b|\bcomposes\b[^;}]*\bfrom\b/;

/**
 * Returns a warning for each name that a module reads of a CSS module which has no such class: it is undefined, so that the
 * element has the class `undefined`, or none.
 *
 * Errs towards silence: only style sheets in plain CSS are read, and a name is accepted if their text contains it, also with
 * dashes or other capitals, or if it may be generated.
 *
 * @param read returns the text of a file; `undefined` if there is none
 */
export async function cssModuleWarnings(
  facts: ModuleFacts,
  resolver: ModuleResolver,
  read: (file: string) => string | undefined = readText,
): Promise<string[]> {
  const warnings: string[] = [];
  for (const statement of facts.program.body) {
    if (statement.type !== "ImportDeclaration" || !/\.module\.css$/i.test(statement.source.value)) continue;
    const specifier = statement.specifiers.find(({ type }) => type !== "ImportSpecifier");
    const id = specifier && (await resolver.resolve(statement.source.value, facts.source.file));
    const text = id && /\.module\.css$/i.test(id) ? read(id) : undefined;
    if (!specifier || !id || text === undefined || GENERATED.test(text)) continue;
    const names = namesIn(text);
    const known = new Set([...names].map(normalize));
    for (const { name, at } of namesRead(facts, specifier)) {
      if (known.has(normalize(name))) continue;
      const location = locationIn(facts, at.start, resolver.root);
      const similar = closestName(
        name,
        [...names].filter((each) => /^[a-z_$][\w$]*$/i.test(each)),
      );
      const local = specifier.local.name;
      const fix = similar === undefined ? `Add the class .${name} there.` : `Did you mean ${local}.${similar}?`;
      warnings.push(
        `${location} reads ${local}.${name}, which is undefined: ${relativePath(id, resolver.root)} has no class of this name. ${fix}`,
      );
    }
  }
  return warnings;
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // made by a plugin
  }
}

/** Returns all names in the text of a style sheet without its comments: classes, animations, values. */
function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.replace(/\/\*.*?\*\//gs, " ").match(/[\w-]+/g) ?? []);
}

/** CSS modules can be set to export `card-title` as `cardTitle`. */
function normalize(name: string): string {
  return name.replace(/[-_]/g, "").toLowerCase();
}

/** Returns the members of an import that a module reads, each name once: `styles.card`, `styles["card-title"]`. */
function namesRead(
  { scopes }: ModuleFacts,
  specifier: ESTree.ImportDeclarationSpecifier,
): { readonly name: string; readonly at: Node }[] {
  const found = new Map<string, Node>();
  const skipped = new Set<Node>();
  for (const { node } of nodesOf(scopes, "AssignmentExpression")) skipped.add(node.left);
  // `styles[name] ?? …` may be missing on purpose
  for (const { node } of nodesOf(scopes, "LogicalExpression")) skipped.add(node.left);
  for (const { node, scope } of nodesOf(scopes, "MemberExpression")) {
    if (skipped.has(node) || node.object.type !== "Identifier") continue;
    if (scope.findValue(node.object.name)?.declarations[0] !== specifier) continue;
    const name = memberName(node);
    if (name !== undefined && name !== "default" && !(name in Object.prototype) && !found.has(name))
      found.set(name, node);
  }
  return [...found].map(([name, at]) => ({ name, at }));
}
