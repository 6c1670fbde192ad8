import type { ESTree } from "vite";
import {
  importedNameOf,
  layoutsOfApp,
  locationIn,
  type ModuleFacts,
  type ModuleResolver,
  resolveImported,
} from "../modules/index.ts";
import {
  CompileError,
  type FunctionNode,
  findNode,
  isFunctionNode,
  isMarkup,
  type Node,
  unwrapExpression,
} from "../syntax/index.ts";
import type { ViteRuleResolver } from "./rule.ts";

/** A function that is the layout of an application or a page, and the module that contains it. */
export interface LayoutFunction {
  readonly facts: ModuleFacts;
  readonly fn: FunctionNode;
}

const FIX = "Put `{children}` where the page belongs: `({ children }) => <main>{children}</main>`.";

/** Checks the layouts of a module: see {@link checkLayoutChildren}. */
export async function checkLayouts(facts: ModuleFacts, resolver: ViteRuleResolver): Promise<string[]> {
  const layouts = await resolver.remember("layouts", async () => {
    const entry = await resolver.application();
    return entry ? readAppLayouts(entry, resolver) : [];
  });
  return checkLayoutChildren(facts, layouts, resolver);
}

/**
 * Checks that the layouts of a module render the page: those of its own pages, and those of the application that the module
 * contains. A layout can leave the page out on purpose, so only code that never can render it is reported: a layout with markup
 * and a parameter that it does not use is an error, and one with markup or a text and no parameter gets a warning. Other layouts,
 * such as one that always redirects, are accepted.
 *
 * @param layouts the layouts of the application
 * @returns warnings
 * @throws CompileError at the parameter
 */
export async function checkLayoutChildren(
  facts: ModuleFacts,
  layouts: readonly LayoutFunction[],
  resolver: ModuleResolver,
): Promise<string[]> {
  const own = layouts.filter((layout) => layout.facts.source.file === facts.source.file);
  const functions = new Map([...own, ...(await layoutsOfPages(facts, resolver))].map((layout) => [layout.fn, layout]));
  const warnings: string[] = [];
  for (const { facts: module, fn } of functions.values()) {
    const [parameter] = fn.params;
    if (rendersPage(fn) || !(findNode(fn, isMarkup) || (!parameter && returnsText(fn)))) continue;
    if (parameter) {
      throw new CompileError(
        `This layout never renders \`children\`, so it shows no page. ${FIX}`,
        module.source,
        parameter,
      );
    }
    const location = locationIn(module, fn.start, resolver.root);
    warnings.push(`The layout at ${location} has no parameter \`children\`, so it shows no page. ${FIX}`);
  }
  return warnings;
}

/** Returns the layouts of the application whose module is `entry`, as far as the sources show them. */
export async function readAppLayouts(entry: ModuleFacts, resolver: ModuleResolver): Promise<LayoutFunction[]> {
  return functionsOf(layoutsOfApp(entry), entry, resolver);
}

function layoutsOfPages(facts: ModuleFacts, resolver: ModuleResolver): Promise<LayoutFunction[]> {
  const values = facts.declarations.flatMap(({ kind, call }) => {
    const options = call.arguments[1] && unwrapExpression(call.arguments[1]);
    if (kind !== "page" || options?.type !== "ObjectExpression") return [];
    return options.properties.flatMap((property) => {
      if (property.type === "SpreadElement" || property.computed || property.key.type !== "Identifier") return [];
      return property.key.name === "layout" ? [property.value] : [];
    });
  });
  return functionsOf(values, facts, resolver);
}

/** Returns the functions that expressions are or name. Functions that something computes are not included. */
async function functionsOf(
  values: readonly Node[],
  facts: ModuleFacts,
  resolver: ModuleResolver,
): Promise<LayoutFunction[]> {
  const functions: LayoutFunction[] = [];
  for (const value of values.map(unwrapExpression)) {
    if (isFunctionNode(value)) functions.push({ facts, fn: value });
    const imported = importedNameOf(value, facts.scopes.module);
    const origin = imported && (await resolveImported(imported, facts, resolver));
    const named = origin ? namedFunction(origin.local, origin.facts) : namedFunction(nameOf(value), facts);
    if (named) functions.push(named);
  }
  return functions;
}

function nameOf(value: Node): string | undefined {
  return value.type === "Identifier" ? value.name : undefined;
}

/** Returns the function that a name of a module always refers to. */
function namedFunction(name: string | undefined, facts: ModuleFacts): LayoutFunction | undefined {
  const binding = name === undefined ? undefined : facts.scopes.module.findValue(name);
  const [node, second] = binding?.declarations ?? [];
  if (!node || second || binding?.reassigned) return undefined;
  const isSimple = node.type === "VariableDeclarator" && node.id.type === "Identifier" && node.init;
  const value = isSimple && node.init ? unwrapExpression(node.init) : node;
  return isFunctionNode(value) ? { facts, fn: value } : undefined;
}

/** Returns whether a layout may render its children. Errs towards yes. */
function rendersPage(fn: FunctionNode): boolean {
  const names = namesOfPage(fn.params[0]);
  if (names === undefined) return true;
  const isUse = (node: Node) => (node.type === "Identifier" || node.type === "JSXIdentifier") && names.has(node.name);
  return findNode(fn.body ?? fn, isUse) !== undefined;
}

/**
 * Returns the names through which a layout can use its children; `undefined` if they are unknown, or if the parameter is
 * unused on purpose, as `_props` is.
 */
function namesOfPage(parameter: Node | undefined): ReadonlySet<string> | undefined {
  if (!parameter) return new Set(["arguments"]);
  const target = parameter.type === "AssignmentPattern" ? parameter.left : parameter;
  if (target.type === "Identifier")
    return /^_|^this$/.test(target.name) ? undefined : new Set([target.name, "arguments"]);
  if (target.type !== "ObjectPattern") return undefined;
  const names = target.properties.map(nameOfPageIn);
  return names.includes(undefined) ? undefined : new Set([...names.filter((name) => name !== undefined), "arguments"]);
}

type PatternPart = ESTree.ObjectPattern["properties"][number] | ESTree.ObjectAssignmentTarget["properties"][number];

/** Returns the name that a part of a pattern gives to the children, empty if it is another property; `undefined` when unsure. */
function nameOfPageIn(property: PatternPart): string | undefined {
  if (property.type === "RestElement")
    return property.argument.type === "Identifier" ? property.argument.name : undefined;
  if (property.computed || property.key.type !== "Identifier") return undefined;
  if (property.key.name !== "children") return "";
  const { value } = property;
  const target = value.type === "AssignmentPattern" ? value.left : value;
  return target.type === "Identifier" && !target.name.startsWith("_") ? target.name : undefined;
}

/** Returns whether all that an arrow function does is to return a text that is written in the source. */
function returnsText(fn: FunctionNode): boolean {
  if (fn.type !== "ArrowFunctionExpression" || !fn.body) return false;
  const body = unwrapExpression(soleResult(fn.body) ?? fn.body);
  return body.type === "TemplateLiteral" || (body.type === "Literal" && typeof body.value === "string");
}

/** Returns the expression of a block that consists of a `return`. */
function soleResult(body: Node): Node | undefined {
  const [statement, second] = body.type === "BlockStatement" ? body.body : [];
  return statement?.type === "ReturnStatement" && !second ? (statement.argument ?? undefined) : undefined;
}
