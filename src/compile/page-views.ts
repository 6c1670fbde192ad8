import { fileURLToPath } from "node:url";
import { type ESTree, normalizePath } from "vite";
import type { ViewSource } from "../protocol/index.ts";
import type { BuildRecorder, PageViews } from "./build-registry.ts";
import {
  type Declaration,
  layoutsOfApp,
  type ModuleFacts,
  type ModuleResolver,
  relativePath,
} from "./modules/index.ts";
import {
  type Binding,
  expressionsIn,
  keyName,
  type Node,
  type Scope,
  type Scopes,
  sourceLocation,
  stringValue,
  unwrapExpression,
} from "./syntax/index.ts";

/** Records the pages of a module, or the layout of the application module, for the sizes of pages that a build prints. */
export async function recordPageViews(
  facts: ModuleFacts,
  resolver: ModuleResolver,
  { isEntry, recorder }: { readonly isEntry: boolean; readonly recorder: BuildRecorder },
): Promise<void> {
  if (isEntry) recorder.recordLayout(await readLayoutViews(facts, resolver));
  if (facts.isServerModule) recorder.recordPages(facts.source.file, await readPageViews(facts, resolver));
}

/** Returns the pages of a module, each with the views that it may render. */
export async function readPageViews(facts: ModuleFacts, resolver: ModuleResolver): Promise<PageViews[]> {
  const pages: PageViews[] = [];
  for (const declaration of facts.declarations) {
    if (declaration.kind !== "page") continue;
    const search = new ViewSearch(resolver);
    for (const argument of declaration.call.arguments) await search.addNode(argument, facts);
    pages.push({ ...describePage(declaration, facts, resolver.root), views: search.views() });
  }
  return pages;
}

/** Returns the views that the layout of an application may render. */
export async function readLayoutViews(entry: ModuleFacts, resolver: ModuleResolver): Promise<ViewSource[]> {
  const search = new ViewSearch(resolver);
  for (const node of layoutsOfApp(entry)) await search.addNode(node, entry);
  return search.views();
}

function describePage({ call, name, nameRange }: Declaration, { source }: ModuleFacts, root: string) {
  const [pathArgument, options] = call.arguments;
  const path = pathArgument && stringValue(pathArgument);
  return {
    file: relativePath(source.file, root),
    line: sourceLocation(source, nameRange.start).line,
    name,
    ...(path === undefined ? {} : { path }),
    hasOwnLayout: call.arguments.length > 2 && options !== undefined && setsLayout(options),
  };
}

function setsLayout(options: ESTree.Argument): boolean {
  const object = unwrapExpression(options);
  if (object.type !== "ObjectExpression") return false;
  return object.properties.some(
    (property) => property.type === "Property" && !property.computed && keyName(property) === "layout",
  );
}

/** Follows the names that code uses, through the modules of the project, up to the views. Packages contain no views. */
class ViewSearch {
  private readonly resolver: ModuleResolver;
  private readonly found = new Map<string, ViewSource>();
  private readonly visitedBindings = new Set<Binding>();
  private readonly visitedExports = new Set<string>();

  constructor(resolver: ModuleResolver) {
    this.resolver = resolver;
  }

  views(): ViewSource[] {
    return [...this.found.values()];
  }

  async addNode(node: Node, facts: ModuleFacts): Promise<void> {
    for (const { binding, member } of findModuleLevelReferences(node, facts.scopes)) {
      if (!binding.imported) {
        await this.addBinding(binding, facts);
        continue;
      }
      const { source, name } = binding.imported;
      const id = await this.resolver.resolve(source, facts.source.file);
      await this.addExport(id, name === "*" && member !== undefined ? member : name);
    }
  }

  private async addBinding(binding: Binding, facts: ModuleFacts): Promise<void> {
    if (this.visitedBindings.has(binding)) return;
    this.visitedBindings.add(binding);
    const declaration = facts.declarations.find(({ local }) => local === binding.name);
    if (declaration) return this.addDeclaration(declaration, facts);
    for (const node of binding.declarations) await this.addNode(node, facts);
  }

  /** A view inside a view belongs to the outer view's script. Functions, pages and routes render nothing where they are named. */
  private addDeclaration({ kind, name }: Declaration, facts: ModuleFacts): void {
    if (kind !== "view") return;
    const file = relativePath(facts.source.file, this.resolver.root);
    this.found.set(`${file}\0${name}`, { file, name });
  }

  private async addExport(id: string | undefined, name: string): Promise<void> {
    const key = `${id}\0${name}`;
    if (id === undefined || isPackageModule(id) || this.visitedExports.has(key)) return;
    this.visitedExports.add(key);
    const facts = await this.resolver.read(id);
    if (!facts) return;
    const { named, starExports } = facts.exports;
    const entries = named.filter((entry) => !entry.isType && (name === "*" || entry.name === name));
    for (const { from, local, name: exported } of entries) {
      if (from) await this.addExport(await this.resolver.resolve(from.source, facts.source.file), from.name);
      else if (local === undefined) await this.addDefault(exported, facts);
      else {
        const binding = facts.scopes.module.findValue(local);
        if (binding) await this.addBinding(binding, facts);
      }
    }
    if (name !== "*" && entries.length > 0) return;
    for (const { source } of starExports)
      await this.addExport(await this.resolver.resolve(source, facts.source.file), name);
  }

  private async addDefault(name: string, facts: ModuleFacts): Promise<void> {
    const declaration = facts.declarations.find((candidate) => candidate.name === name);
    if (declaration) return this.addDeclaration(declaration, facts);
    for (const statement of facts.program.body)
      if (statement.type === "ExportDefaultDeclaration") await this.addNode(statement.declaration, facts);
  }
}

/** A use of a name that the module imports or declares at its top level. */
interface ModuleLevelReference {
  readonly binding: Binding;
  /** The property that is read of it, as in `views.Counter` and `<views.Counter />`. Absent for any other use. */
  readonly member?: string;
}

/** Returns the uses of imported and top-level values in a node, as expressions or as elements of JSX. */
function findModuleLevelReferences(node: Node, scopes: Scopes): ModuleLevelReference[] {
  const found: ModuleLevelReference[] = [];
  const add = (name: string, scope: Scope, member?: string) => {
    const binding = scope.findValue(name);
    if (binding?.scope.isModule) found.push(member === undefined ? { binding } : { binding, member });
  };
  const visit = (child: Node, outer: Scope) => {
    const scope = scopes.byNode.get(child) ?? outer;
    const member = memberOfName(child);
    if (member) return add(member.object, scope, member.property);
    if (child.type === "Identifier" || child.type === "JSXIdentifier") return add(child.name, scope);
    for (const inner of valuesIn(child)) visit(inner, scope);
  };
  visit(node, scopes.module);
  return found;
}

/** Returns the names in `views.Counter` and `<views.Counter>`. */
function memberOfName(node: Node): { object: string; property: string } | undefined {
  if (node.type === "MemberExpression" && !node.computed) {
    if (node.object.type !== "Identifier" || node.property.type !== "Identifier") return undefined;
    return { object: node.object.name, property: node.property.name };
  }
  if (node.type !== "JSXMemberExpression" || node.object.type !== "JSXIdentifier") return undefined;
  return { object: node.object.name, property: node.property.name };
}

function valuesIn(node: Node): readonly Node[] {
  switch (node.type) {
    case "JSXAttribute":
      return node.value ? [node.value] : [];
    case "JSXMemberExpression":
      return [node.object];
    case "JSXOpeningElement":
      return isHtmlElement(node.name) ? node.attributes : [node.name, ...node.attributes];
    case "JSXClosingElement":
      return [];
    default:
      return expressionsIn(node);
  }
}

/** The names of HTML elements start with a lower-case letter; all other names refer to components. */
function isHtmlElement(name: Node): boolean {
  return name.type === "JSXIdentifier" && /^[a-z]/.test(name.name);
}

/** The folder of tsweb's own modules. A linked copy of the package is not below `node_modules`. */
const OWN_FOLDER = normalizePath(fileURLToPath(new URL("..", import.meta.url)));

/**
 * Match the ids of modules of installed packages and of tsweb itself, with their queries. As a filter of a hook, they save the call of
 * JavaScript for each of these modules, which are most modules of a build.
 */
export const PACKAGE_MODULES: readonly RegExp[] = [
  /^[^?#]*[\\/]node_modules[\\/]/,
  new RegExp(`^${OWN_FOLDER.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`),
];

/** Returns whether a file belongs to an installed package or to tsweb itself, and not to the project. */
export function isPackageModule(file: string): boolean {
  return PACKAGE_MODULES.some((pattern) => pattern.test(file));
}
