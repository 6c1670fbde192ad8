import {
  exportedValue,
  importedNameOf,
  isFunctionValue,
  type ModuleFacts,
  type ModuleResolver,
  resolveExport,
} from "../modules/index.ts";
import { CompileError, type ImportedName, isFunctionNode, nodesOf } from "../syntax/index.ts";
import { isElementName } from "./element-names.ts";

/** An element whose name is that of a value in its scope. */
interface NamedElement {
  readonly name: string;
  readonly at: { readonly start: number; readonly end: number };
  /** The import that the value is; absent for a function of the module. */
  readonly imported?: ImportedName;
}

/**
 * Rejects elements such as `<guestList />` if `guestList` is a view or a function: JSX creates an element of this name, which
 * browsers show empty. Elements of HTML, SVG and MathML, and names of other values, are accepted.
 *
 * @throws CompileError at the name of the element
 */
export async function checkLowercaseComponents(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  for (const { name, at, imported } of namedElements(facts)) {
    if (imported && !(await isFunction(imported, facts, resolver))) continue;
    const component = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    throw new CompileError(
      `<${name}> does not use the component ${name}: JSX takes a name that begins with a small letter for an element, and ` +
        `HTML has no such element. Rename the component to ${component}, and write \`<${component}>\`.`,
      facts.source,
      at,
    );
  }
}

function namedElements({ scopes }: ModuleFacts): NamedElement[] {
  const found: NamedElement[] = [];
  for (const { node, scope } of nodesOf(scopes, "JSXOpeningElement")) {
    if (node.name.type !== "JSXIdentifier") continue;
    const { name } = node.name;
    if (!/^[a-z]/.test(name) || isElementName(name)) continue;
    const imported = importedNameOf(node.name, scope);
    const identifier = { ...node.name, type: "Identifier" } as const;
    if (imported) found.push({ name, at: node.name, imported });
    else if (isFunctionValue(identifier, scope)) found.push({ name, at: node.name });
  }
  return found;
}

/** Returns whether an import is certainly a view or a function of the project. */
async function isFunction(imported: ImportedName, facts: ModuleFacts, resolver: ModuleResolver): Promise<boolean> {
  const id = await resolver.resolve(imported.source, facts.source.file);
  const origin = await resolveExport(id, imported.name, resolver);
  if (!origin) return false;
  if (origin.facts.views.some(({ name }) => name === origin.name)) return true;
  const value = exportedValue(origin);
  return value !== undefined && isFunctionNode(value);
}
