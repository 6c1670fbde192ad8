import { posix } from "node:path";
import { closestName } from "../../text/index.ts";
import {
  attributesOf,
  exportedValue,
  importedElements,
  importedNameOf,
  isFunctionValue,
  type ModuleFacts,
  type ModuleResolver,
  possibleValues,
  type ResolvedExport,
  resolveImported,
} from "../modules/index.ts";
import {
  CompileError,
  isFunctionNode,
  keyName,
  type Node,
  type Scope,
  type Scopes,
  unwrapExpression,
} from "../syntax/index.ts";

/** What belongs to an element and is not a prop of its component. */
const NOT_PROPS: ReadonlySet<string> = new Set(["key", "ref"]);

/**
 * Rejects functions as props of views in a page: a page sends the props of its views to the browser as JSON. Functions that
 * a computed value, a spread or an installed package provides are found when the page is rendered.
 *
 * @throws CompileError at the attribute
 */
export async function checkViewProps(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  if (!facts.isServerModule) return;
  const fixFor = async (value: Node, scope: Scope, view: ResolvedExport) => {
    if (isFunctionValue(value, scope)) return DECLARE_IT;
    const imported = importedNameOf(value, scope);
    const origin = imported && (await resolveImported(imported, facts, resolver));
    if (origin?.serverFunction) return importFix(origin, view);
    const exported = origin && exportedValue(origin);
    return exported && isFunctionNode(exported) ? DECLARE_IT : undefined;
  };
  for (const { element, component, scope } of importedElements(facts.scopes)) {
    const props = attributesOf(element).filter(({ name }) => !NOT_PROPS.has(name));
    const origin = props.length > 0 ? await resolveImported(component, facts, resolver) : undefined;
    if (!origin?.view) continue;
    for (const { name, value, at } of props) {
      for (const possibleValue of value ? possibleValues(value) : []) {
        const fix = await fixFor(possibleValue, scope, origin);
        if (fix !== undefined) throw new CompileError(functionMessage(origin.view.name, name, fix), facts.source, at);
      }
    }
  }
}

const DECLARE_IT =
  "Declare the function in the module of the view. If it needs the server, wrap it in server() in a server module, and " +
  "import it in the view.";

function importFix({ name, facts }: ResolvedExport, view: ResolvedExport): string {
  const path = posix.relative(posix.dirname(view.facts.source.file), facts.source.file).replace(/^(?!\.)/, "./");
  return `Import the server function in the module of the view: \`import { ${name} } from "${path}"\`.`;
}

function functionMessage(view: string, prop: string, fix: string): string {
  return (
    `The view "${view}" has a function as its prop ${prop}. Its props are sent to the browser as JSON, which has no ` +
    `functions. ${fix}`
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
  const { source } = facts;
  for (const { element, component } of importedElements(facts.scopes)) {
    const { name: tag, attributes } = element;
    const names = new Map(attributesOf(element).map(({ name, at }) => [name, at]));
    if (attributes.length === 0 || names.size < attributes.length) continue;
    const origin = await resolveImported(component, facts, resolver);
    const declared = origin && declaredProps(origin);
    if (!declared) continue;
    const missing = [...declared].flatMap(([prop, isRequired]) => (isRequired && !names.has(prop) ? [prop] : []));
    for (const [prop, attribute] of names) {
      const meant = declared.has(prop) || COMMON_PROPS.has(prop) ? undefined : closestName(prop, missing);
      if (meant === undefined) continue;
      const text = source.code.slice(tag.start, tag.end);
      throw new CompileError(`${text} has no prop "${prop}". Did you mean "${meant}"?`, source, attribute);
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
