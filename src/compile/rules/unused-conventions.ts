import { type ModuleFacts, type ModuleResolver, relativePath } from "../modules/index.ts";
import { isFunctionNode, nodesOf, sourceLocation, unwrapExpression } from "../syntax/index.ts";
import { importsOf, type ListedModules } from "./listed-modules.ts";

/** The functions that Next.js and SvelteKit call by the names of their methods. */
const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);

const LOAD = 'Load the data in the function of the page: `page("/…", async () => …)`.';
const ACT =
  "Declare a server function, and make it the action of the form: `export const save = server((name: string) => …)` and " +
  "`<form action={save}>`.";
const TITLE = 'Pass the title to the page, as in `page("/…", { title: "…" }, () => …)`, or write <Head> in its markup.';

/** What other frameworks call or read by its name, and what to write in its place. */
const CONVENTIONS: Readonly<Record<string, string>> = {
  loader: LOAD,
  actions: ACT,
  metadata: TITLE,
};

/** Returns what to write in place of an export that other frameworks call by its name; `undefined` for other names. */
export function conventionFix(name: string): string | undefined {
  if (METHODS.has(name)) return `Declare a route: \`export const name = route("${name} /…", async (request) => …)\`.`;
  return Object.hasOwn(CONVENTIONS, name) ? CONVENTIONS[name] : undefined;
}

/**
 * Returns a warning for each function and object that a listed module exports under a name that other frameworks call or read,
 * and that no module of the application uses: `GET`, `loader`, `metadata` and others.
 */
export async function unusedConventions(
  facts: ModuleFacts,
  { entry, modules }: ListedModules,
  resolver: ModuleResolver,
): Promise<string[]> {
  const names = new Map([...conventionsIn(facts)].map((exported) => [exported.name, exported]));
  if (names.size === 0) return [];
  for await (const { name, importer } of importsOf(facts, [entry, ...modules], resolver)) {
    if (name !== "*") names.delete(name);
    // The application module imports all modules that it lists as namespaces.
    else if (importer !== entry) return [];
  }
  const file = relativePath(facts.source.file, resolver.root);
  return [...names.values()]
    .filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(entry.source.code))
    .map(({ name, fix, start }) => {
      const { line } = sourceLocation(facts.source, start);
      return `${file}:${line} exports ${name}, which only other frameworks use, and no module of the application does. ${fix}`;
    });
}

/** An export with such a name, and where it is. */
interface Convention {
  readonly name: string;
  readonly fix: string;
  readonly start: number;
}

function* conventionsIn({ exports, scopes, declarations }: ModuleFacts): Generator<Convention> {
  for (const { name, local, from, isType, at } of exports.named) {
    const fix = conventionFix(name);
    if (fix === undefined || isType || from || local !== name) continue;
    if (declarations.some((declaration) => declaration.local === local)) continue;
    const [node, second] = scopes.module.findValue(local)?.declarations ?? [];
    const value = node?.type === "VariableDeclarator" ? node.init && unwrapExpression(node.init) : node;
    if (!value || second || !(isFunctionNode(value) || value.type === "ObjectExpression")) continue;
    if (METHODS.has(name) && !isFunctionNode(value)) continue;
    const uses = nodesOf(scopes, "Identifier", "JSXIdentifier").filter((each) => each.node.name === local);
    if (uses.length === 1) yield { name, fix, start: at.start }; // its declaration
  }
}
