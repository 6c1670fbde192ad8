import type { ESTree } from "vite";
import {
  exportedValue,
  importedNameOf,
  isFunctionValue,
  isIntrinsicName,
  type ModuleFacts,
  type ModuleResolver,
  possibleValues,
  resolveExport,
} from "../modules/index.ts";
import { CompileError, type ImportedName, isFunctionNode, type Node, nodesOf, type Scope } from "../syntax/index.ts";

/** What belongs to an element and is not a prop of its component. */
const NOT_PROPS: ReadonlySet<string> = new Set(["key", "ref"]);

/** A prop of a component in a page, whose value is written in the module. */
interface Prop {
  readonly component: ImportedName;
  readonly attribute: ESTree.JSXAttribute;
  readonly name: string;
  readonly values: readonly Node[];
  readonly scope: Scope;
}

/**
 * Rejects functions as props of views in a page: a page sends the props of its views to the browser as JSON. Functions that
 * a computed value, a spread or an installed package provides are found when the page is rendered.
 *
 * @throws CompileError at the attribute
 */
export async function checkViewProps(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  if (!facts.isServerModule) return;
  const resolve = async ({ source, name }: ImportedName) =>
    resolveExport(await resolver.resolve(source, facts.source.file), name, resolver);
  const isFunction = async (value: Node, scope: Scope) => {
    if (isFunctionValue(value, scope)) return true;
    const imported = importedNameOf(value, scope);
    const origin = imported && (await resolve(imported));
    const exported = origin && exportedValue(origin);
    return exported !== undefined && isFunctionNode(exported);
  };
  for (const { component, attribute, name, values, scope } of propsIn(facts)) {
    const origin = await resolve(component);
    const view = origin?.facts.views.find((candidate) => candidate.name === origin.name);
    if (!view) continue;
    for (const value of values) {
      if (await isFunction(value, scope)) throw new CompileError(messageFor(view.name, name), facts.source, attribute);
    }
  }
}

function propsIn({ scopes }: ModuleFacts): Prop[] {
  const props: Prop[] = [];
  for (const { node, scope } of nodesOf(scopes, "JSXOpeningElement")) {
    if (isIntrinsicName(node.name)) continue;
    const component = importedNameOf(node.name, scope);
    for (const attribute of component ? node.attributes : []) {
      if (attribute.type !== "JSXAttribute" || attribute.name.type !== "JSXIdentifier") continue;
      const { name } = attribute.name;
      if (attribute.value?.type !== "JSXExpressionContainer" || NOT_PROPS.has(name)) continue;
      const values = possibleValues(attribute.value.expression);
      if (component) props.push({ component, attribute, name, values, scope });
    }
  }
  return props;
}

function messageFor(view: string, prop: string): string {
  return (
    `The view "${view}" has a function as its prop ${prop}. Its props are sent to the browser as JSON, which has no ` +
    "functions. Declare the function in the module of the view. If it needs the server, wrap it in server() in a server " +
    "module, and import it in the view."
  );
}
