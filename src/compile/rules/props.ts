import type { ESTree } from "vite";
import { closestName } from "../../text/index.ts";
import {
  exportedValue,
  importedNameOf,
  isFunctionValue,
  isIntrinsicName,
  type ModuleFacts,
  type ModuleResolver,
  possibleValues,
  type ResolvedExport,
  resolveImported,
} from "../modules/index.ts";
import {
  CompileError,
  type ImportedName,
  isFunctionNode,
  keyName,
  type Node,
  nodesOf,
  type Scope,
  type Scopes,
  unwrapExpression,
} from "../syntax/index.ts";

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
  const isFunction = async (value: Node, scope: Scope) => {
    if (isFunctionValue(value, scope)) return true;
    const imported = importedNameOf(value, scope);
    const origin = imported && (await resolveImported(imported, facts, resolver));
    const exported = origin && exportedValue(origin);
    return exported !== undefined && isFunctionNode(exported);
  };
  for (const { component, attribute, name, values, scope } of propsIn(facts)) {
    const view = (await resolveImported(component, facts, resolver))?.view;
    if (!view) continue;
    for (const value of values) {
      if (await isFunction(value, scope))
        throw new CompileError(functionMessage(view.name, name), facts.source, attribute);
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

function functionMessage(view: string, prop: string): string {
  return (
    `The view "${view}" has a function as its prop ${prop}. Its props are sent to the browser as JSON, which has no ` +
    "functions. Declare the function in the module of the view. If it needs the server, wrap it in server() in a server " +
    "module, and import it in the view."
  );
}

/** What any element can have. */
const COMMON_PROPS: ReadonlySet<string> = new Set(["key", "ref", "children"]);

/**
 * Rejects an attribute that a component does not declare, in place of a prop with a similar name that it requires. Components whose
 * props the module does not show in full are not checked, nor are elements with a spread.
 *
 * @throws CompileError at the attribute
 */
export async function checkPropNames(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  const elements: { readonly element: ESTree.JSXOpeningElement; readonly imported: ImportedName }[] = [];
  const { source, scopes } = facts;
  for (const { node: element, scope } of nodesOf(scopes, "JSXOpeningElement")) {
    if (isIntrinsicName(element.name)) continue;
    const imported = importedNameOf(element.name, scope);
    if (imported && element.attributes.length > 0) elements.push({ element, imported });
  }
  for (const { element, imported } of elements) {
    const { name, attributes } = element;
    const names = new Map<string, ESTree.JSXAttribute>();
    for (const attribute of attributes) {
      if (attribute.type === "JSXAttribute" && attribute.name.type === "JSXIdentifier")
        names.set(attribute.name.name, attribute);
    }
    if (names.size < attributes.length) continue;
    const origin = await resolveImported(imported, facts, resolver);
    const declared = origin && declaredProps(origin);
    if (!declared) continue;
    const missing = [...declared].flatMap(([prop, isRequired]) => (isRequired && !names.has(prop) ? [prop] : []));
    for (const [prop, attribute] of names) {
      const meant = declared.has(prop) || COMMON_PROPS.has(prop) ? undefined : closestName(prop, missing);
      if (meant === undefined) continue;
      const component = source.code.slice(name.start, name.end);
      throw new CompileError(`${component} has no prop "${prop}". Did you mean "${meant}"?`, source, attribute);
    }
  }
}

/** Returns the props of a component, and whether it requires them, as its type shows them; `undefined` if it does not show all. */
function declaredProps(component: ResolvedExport): ReadonlyMap<string, boolean> | undefined {
  const value = exportedValue(component);
  const declaration = component.facts.declarations.find(({ kind, name }) => kind === "view" && name === component.name);
  const last = declaration?.call.arguments.at(-1);
  const fn = last ? unwrapExpression(last) : value;
  if (!fn || !isFunctionNode(fn)) return undefined;
  const [parameter] = fn.params;
  const annotation =
    parameter?.type === "ObjectPattern" || parameter?.type === "Identifier" ? parameter.typeAnnotation : null;
  return annotation ? membersOf(annotation.typeAnnotation, component.facts.scopes) : undefined;
}

function membersOf(type: Node, scopes: Scopes): ReadonlyMap<string, boolean> | undefined {
  if (type.type === "TSTypeLiteral") return signaturesIn(type.members);
  if (type.type !== "TSTypeReference" || type.typeName.type !== "Identifier" || type.typeArguments) return undefined;
  const [node, second] = scopes.module.findType(type.typeName.name)?.declarations ?? [];
  if (second) return undefined;
  if (node?.type === "TSInterfaceDeclaration" && node.extends.length === 0) return signaturesIn(node.body.body);
  const isLiteral = node?.type === "TSTypeAliasDeclaration" && node.typeAnnotation.type === "TSTypeLiteral";
  return isLiteral ? membersOf(node.typeAnnotation, scopes) : undefined;
}

function signaturesIn(members: readonly Node[]): ReadonlyMap<string, boolean> | undefined {
  const props = new Map<string, boolean>();
  for (const member of members) {
    if (member.type !== "TSPropertySignature" && member.type !== "TSMethodSignature") return undefined;
    const name = keyName(member);
    if (name === undefined) return undefined;
    props.set(name, !member.optional);
  }
  return props;
}
