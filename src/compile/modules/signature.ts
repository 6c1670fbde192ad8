import type { ESTree } from "vite";
import type { Parameter, Signature, TypeShape } from "../../protocol/index.ts";
import { CompileError, type FunctionNode, keyName, type Node, type Scopes, type SourceFile } from "../syntax/index.ts";
import {
  coercedShape,
  coercedValueShape,
  containsCheckedType,
  type Member,
  type Members,
  parameterCoercion,
  parameterMembers,
  type TypeNode,
} from "../types/index.ts";

/** A server function, or a query, in its module. */
export interface ServerFunctionSource {
  /** What it is, for messages. */
  readonly kind: "server function" | "query";
  readonly fn: FunctionNode;
  readonly name: string;
  /** Its module, relative to the project's root. */
  readonly file: string;
  readonly line: number;
  /** Whether the parameters have types from outside: from an annotated const, a type argument or `satisfies`. */
  readonly typedElsewhere: boolean;
}

/**
 * Reads the signature of a server function, or of a query, from its parameters.
 *
 * @throws CompileError for a parameter that cannot be passed by name, or whose type cannot be read
 * @see docs/protocol.md 4.1
 */
export function readSignature(serverFunction: ServerFunctionSource, source: SourceFile, scopes: Scopes): Signature {
  const { fn, name, file, line } = serverFunction;
  const reader = new ParameterReader(serverFunction, source, scopes);
  const keyed = fn.params.length === 1 ? reader.keyed(fn.params[0]) : undefined;
  const params = keyed ?? fn.params.map((param) => reader.positional(param));
  return {
    name,
    file,
    line,
    ...(fn.generator ? { stream: true } : {}),
    ...(keyed ? { keyed: true } : {}),
    params,
  };
}

class ParameterReader {
  private readonly serverFunction: ServerFunctionSource;
  private readonly source: SourceFile;
  private readonly position: Omit<TypeNode, "node">;

  constructor(serverFunction: ServerFunctionSource, source: SourceFile, scopes: Scopes) {
    this.serverFunction = serverFunction;
    this.source = source;
    this.position = { scope: scopes.byNode.get(serverFunction.fn) ?? scopes.module, module: { source, scopes } };
  }

  /** Reads a parameter that is not a destructured object. */
  positional(param: ESTree.ParamPattern): Parameter {
    const assignment = param.type === "AssignmentPattern" ? param : undefined;
    const target: Node = assignment ? assignment.left : param;
    if (target.type === "RestElement") {
      return this.reject(
        "takes its arguments by name, so it cannot have a rest parameter. Use one array parameter instead.",
        target,
      );
    }
    if (target.type === "ObjectPattern") {
      return this.reject(
        "mixes a destructured object with other parameters. Use one destructured object, whose keys are the parameters, or parameters by position.",
        target,
      );
    }
    if (target.type !== "Identifier") {
      return this.reject("takes its arguments by name, but a destructured array has none. Name the parameter.", target);
    }
    if (target.name === "this") {
      return this.reject(
        "is not called on an object, so it cannot have a `this` parameter. Pass the value as a parameter.",
        target,
      );
    }
    const annotation = target.typeAnnotation?.typeAnnotation;
    return this.parameter(target.name, target, {
      ...(annotation ? { type: { ...this.position, node: annotation } } : {}),
      ...(assignment ? { defaultValue: assignment.right } : {}),
      optional: Boolean(target.optional),
    });
  }

  /** Reads the keys of a destructured object as parameters; `undefined` when the parameter is not one. */
  keyed(param: ESTree.ParamPattern | undefined): Parameter[] | undefined {
    const pattern = param?.type === "AssignmentPattern" ? param.left : param;
    if (pattern?.type !== "ObjectPattern") return undefined;
    if (param?.type === "AssignmentPattern" && !isEmptyObject(param.right)) {
      this.reject(
        "has a default for its whole destructured object. Write defaults inside the braces, as in `({ n = 3 }: …)`. The whole may only have the default `{}`.",
        param.right,
      );
    }
    const annotation = pattern.typeAnnotation?.typeAnnotation;
    const members = annotation && this.members({ ...this.position, node: annotation });
    if (!annotation) this.requireOwnTypes(pattern, "its parameters");
    return pattern.properties.map((property) => this.key(property, members));
  }

  private key(property: ESTree.BindingProperty | ESTree.BindingRestElement, members: Members | undefined): Parameter {
    if (property.type === "RestElement") {
      return this.reject(
        "must name every key it takes, so it cannot have a rest element. Write the keys out.",
        property,
      );
    }
    const name = keyName(property);
    if (name === undefined)
      return this.reject("must name every key it takes, so a key cannot be computed. Write the key out.", property.key);
    const member: Member | undefined = members?.get(name);
    return this.parameter(name, property.key, {
      ...(member?.type ? { type: member.type } : {}),
      ...(property.value.type === "AssignmentPattern" ? { defaultValue: property.value.right } : {}),
      optional: member?.optional ?? false,
      typed: members !== undefined,
    });
  }

  private members(type: TypeNode): Members | undefined {
    const members = parameterMembers(type);
    if (members === undefined && containsCheckedType(type)) {
      return this.reject(
        "has parameters whose types cannot be read. Declare them in this module as `{ n: int; … }`, an interface or an alias.",
        type.node,
      );
    }
    return members;
  }

  private parameter(name: string, at: Node, parameter: ParameterSource): Parameter {
    if (name === "__proto__") this.reject("cannot have a parameter named `__proto__`. Give it another name.", at);
    if (!parameter.type && !parameter.defaultValue && parameter.typed === undefined)
      this.requireOwnTypes(at, `\`${name}\``);
    if (parameter.type && isFormData(parameter.type)) {
      throw new CompileError(formDataMessage(this.serverFunction.name, name), this.source, at);
    }
    const shape = this.shape(parameter);
    const { optional, ...coercion } = parameterCoercion(shape);
    const isOptional = optional || parameter.optional || parameter.defaultValue !== undefined;
    return {
      name,
      ...coercion,
      ...(isOptional ? { optional: true } : {}),
      annotation: parameter.type ? this.text(parameter.type.node) : (shape.kinds?.[0] ?? "").replace("float", "number"),
    };
  }

  private shape({ type, defaultValue }: ParameterSource): TypeShape {
    if (type) return coercedShape(type);
    return defaultValue ? coercedValueShape({ ...this.position, node: defaultValue }) : {};
  }

  /** Rejects a parameter without a type of its own when an outer type may declare `int` for it: it would pass unchecked. */
  private requireOwnTypes(at: Node, what: string): void {
    if (!this.serverFunction.typedElsewhere) return;
    this.reject(
      `gets the type of ${what} from an outer type, which the compile step does not read. Write the type here too.`,
      at,
    );
  }

  private text(node: Node): string {
    return this.source.code.slice(node.start, node.end).replace(/\s+/g, " ");
  }

  private reject(problem: string, at: Node): never {
    const { kind, name } = this.serverFunction;
    throw new CompileError(`The ${kind} "${name}" ${problem}`, this.source, at);
  }
}

interface ParameterSource {
  readonly type?: TypeNode;
  readonly defaultValue?: Node;
  readonly optional: boolean;
  /** Whether it is a key of an object type that was read. */
  readonly typed?: boolean;
}

/** Returns whether a type is the global `FormData`, and not one that the module declares or imports. */
function isFormData({ node, scope }: TypeNode): boolean {
  if (node.type !== "TSTypeReference" || node.typeName.type !== "Identifier") return false;
  return node.typeName.name === "FormData" && !scope.findType("FormData");
}

/** The usual signature of an action elsewhere is `(previous, data: FormData)`. */
function formDataMessage(name: string, parameter: string): string {
  return (
    `The parameter ${parameter} of ${name} is \`FormData\`, which no form fills in and no call can send: each field of a form ` +
    `is one parameter, of the same name. Declare the fields in place of ${parameter}, with \`File\` for a file: ` +
    `\`${name} = server(async (name: string, age: int) => …)\`.`
  );
}

function isEmptyObject(node: Node): boolean {
  return node.type === "ObjectExpression" && node.properties.length === 0;
}
