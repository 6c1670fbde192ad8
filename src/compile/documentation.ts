import type { FunctionDocumentation, Signature } from "../protocol/index.ts";
import type { Declaration, ModuleFacts } from "./modules/index.ts";
import { type DocComment, docCommentsOf, type FunctionNode, type Node } from "./syntax/index.ts";
import { readResultShape, type TypeLookup } from "./type-shapes/index.ts";
import { propertyKey } from "./types/index.ts";

/** Returns the documentation of a module's server functions, by their index, from types that `lookup` finds. */
export type DocumentationReader = (index: number, lookup: TypeLookup) => FunctionDocumentation;

/** Creates the reader of a module's documentation. The doc comments are read once, and types for each lookup. */
export function documentationOf(facts: ModuleFacts): DocumentationReader {
  const declarations = facts.declarations.filter(({ kind }) => kind === "server");
  const findComment = docCommentsOf(facts.source);
  const comments = facts.functions.map((_, index) => {
    const declaration = declarations[index];
    const fn = facts.functionNodes[index];
    return declaration && fn && commentOf(declaration, fn, facts.program.body, findComment);
  });
  return (index, lookup) => {
    const signature = facts.functions[index];
    const fn = facts.functionNodes[index];
    const result = fn && readResultShape(fn, facts, lookup);
    return {
      ...(signature && fromComment(comments[index], signature)),
      ...(fn && defaultsOf(fn, facts.source.code)),
      ...(result ? { result: result.shape } : {}),
      ...(result && result.shapes.length > 0 ? { resultShapes: result.shapes } : {}),
    };
  };
}

/** Returns the comment of the exported const, or else that of the function if it is declared elsewhere in the module. */
function commentOf(
  { call }: Declaration,
  fn: FunctionNode,
  statements: readonly Node[],
  findComment: (start: number) => DocComment | undefined,
): DocComment | undefined {
  for (const node of [call, fn]) {
    const statement = statements.find(({ start, end }) => start <= node.start && node.end <= end);
    const start = statement && documentedStart(statement, node);
    const comment = start === undefined ? undefined : findComment(start);
    if (comment) return comment;
  }
  return undefined;
}

/** Returns where the comment of a node in this statement ends: before the statement, or before a further `, b = …`. */
function documentedStart(statement: Node, node: Node): number {
  const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  if (declaration?.type !== "VariableDeclaration") return statement.start;
  const declarator = declaration.declarations.find(({ start, end }) => start <= node.start && node.end <= end);
  return declarator && declarator !== declaration.declarations[0] ? declarator.start : statement.start;
}

function fromComment(comment: DocComment | undefined, signature: Signature): FunctionDocumentation {
  if (!comment) return {};
  const { params, ...texts } = comment;
  const named = signature.params.flatMap(({ name }): [string, string][] => {
    const text = params.get(name) ?? (signature.keyed ? keyText(params, name) : undefined);
    return text === undefined ? [] : [[name, text]];
  });
  return { ...texts, ...(named.length > 0 ? { params: Object.fromEntries(named) } : {}) };
}

/** Returns the source texts of the defaults of parameters, or of the keys of a destructured object. */
function defaultsOf({ params }: FunctionNode, code: string): Pick<FunctionDocumentation, "defaults"> {
  const defaults = params.flatMap((param): [string, string][] => {
    const pattern = param.type === "AssignmentPattern" ? param.left : param;
    if (pattern.type === "ObjectPattern") {
      return pattern.properties.flatMap((property) =>
        property.type === "Property"
          ? defaultOf(propertyKey(property.key, property.computed), property.value, code)
          : [],
      );
    }
    return pattern.type === "Identifier" ? defaultOf(pattern.name, param, code) : [];
  });
  return defaults.length > 0 ? { defaults: Object.fromEntries(defaults) } : {};
}

function defaultOf(name: string | undefined, node: Node, code: string): [string, string][] {
  if (name === undefined || node.type !== "AssignmentPattern") return [];
  return [[name, code.slice(node.right.start, node.right.end)]];
}

/** Returns the text of `@param options.name`: the destructured object has no name of its own. */
function keyText(params: ReadonlyMap<string, string>, key: string): string | undefined {
  return [...params].find(([name]) => name.slice(name.indexOf(".") + 1) === key)?.[1];
}
