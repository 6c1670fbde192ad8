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
  findModuleLevelReferences,
  isInNodeModules,
  type Node,
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
    (property) =>
      property.type === "Property" &&
      !property.computed &&
      (property.key.type === "Identifier" ? property.key.name : stringValue(property.key)) === "layout",
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

/** The folder of tsweb's own modules. A linked copy of the package is not below `node_modules`. */
const OWN_FOLDER = normalizePath(fileURLToPath(new URL("..", import.meta.url)));

/** Returns whether a file belongs to an installed package or to tsweb itself, and not to the project. */
export function isPackageModule(file: string): boolean {
  return isInNodeModules(file) || file.startsWith(OWN_FOLDER);
}
