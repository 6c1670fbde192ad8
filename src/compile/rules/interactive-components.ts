import type { ESTree } from "vite";
import {
  exportedValue,
  importedNameOf,
  isFunctionValue,
  isIntrinsicName,
  type ModuleFacts,
  type ModuleResolver,
  type ResolvedExport,
  relativePath,
  resolveExport,
} from "../modules/index.ts";
import {
  CompileError,
  type FunctionNode,
  type ImportedName,
  isFunctionNode,
  type Node,
  nodesOf,
  type Scope,
  sourceLocation,
  unwrapExpression,
  walkScoped,
} from "../syntax/index.ts";

/** The functions of `tsweb/browser` that have an effect in views only. */
const VIEW_FUNCTIONS: ReadonlySet<string> = new Set(["state", "on_mount", "on_unmount"]);

/**
 * Rejects components in the markup of a page that need a browser and are no views, as when `view()` was forgotten: the page
 * would show them, and nothing in them would work.
 *
 * @throws CompileError at the element
 */
export async function checkInteractiveComponents(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  if (!facts.isServerModule) return;
  const elements: { readonly imported: ImportedName; readonly name: ESTree.JSXElementName }[] = [];
  for (const { node, scope } of nodesOf(facts.scopes, "JSXOpeningElement")) {
    if (isIntrinsicName(node.name)) continue;
    const imported = importedNameOf(node.name, scope);
    if (imported) elements.push({ imported, name: node.name });
  }
  for (const { imported, name } of elements) {
    const id = await resolver.resolve(imported.source, facts.source.file);
    const component = await resolveExport(id, imported.name, resolver);
    const use = component && interactiveUse(component);
    if (component && use) throw new CompileError(messageFor(component, use, resolver.root), facts.source, name);
  }
}

/** What a component does in the browser, and where. */
interface InteractiveUse {
  readonly does: string;
  readonly component: FunctionNode;
}

function interactiveUse(component: ResolvedExport): InteractiveUse | undefined {
  const { facts, name } = component;
  if (facts.isServerModule || facts.views.some((view) => view.name === name)) return undefined;
  const value = exportedValue(component);
  if (!value || !isFunctionNode(value)) return undefined;
  let does: string | undefined;
  walkScoped(value, facts.scopes.module, facts.scopes, (node, scope) => {
    does ??= viewFunctionCall(node, scope) ?? (hasHandler(node, scope) ? "has an event handler" : undefined);
    return does === undefined && (node === value || !isFunctionNode(node));
  });
  return does === undefined ? undefined : { does, component: value };
}

function viewFunctionCall(node: Node, scope: Scope): string | undefined {
  if (node.type !== "CallExpression") return undefined;
  const imported = importedNameOf(unwrapExpression(node.callee), scope);
  const isViewFunction = imported?.source === "tsweb/browser" && VIEW_FUNCTIONS.has(imported.name);
  return isViewFunction ? `calls ${imported.name}()` : undefined;
}

/** Returns whether an element of HTML has a function as an event handler. Handlers that are props are unknown. */
function hasHandler(node: Node, scope: Scope): boolean {
  if (node.type !== "JSXOpeningElement" || !isIntrinsicName(node.name)) return false;
  return node.attributes.some(
    (attribute) =>
      attribute.type === "JSXAttribute" &&
      attribute.name.type === "JSXIdentifier" &&
      /^on[A-Z]/.test(attribute.name.name) &&
      attribute.value?.type === "JSXExpressionContainer" &&
      isFunctionValue(unwrapExpression(attribute.value.expression), scope),
  );
}

function messageFor({ facts, name }: ResolvedExport, { does, component }: InteractiveUse, root: string): string {
  const { line } = sourceLocation(facts.source, component.start);
  const location = `${relativePath(facts.source.file, root)}:${line}`;
  const shown = name === "default" ? "The component" : name;
  const form = name === "default" ? "export default view((props) => …)" : `export const ${name} = view((props) => …)`;
  return (
    `${shown} (${location}) ${does} and is not a view, so it would not work in the browser. Declare it as a view: ` +
    `\`${form}\`, with \`view\` of "tsweb/browser".`
  );
}
