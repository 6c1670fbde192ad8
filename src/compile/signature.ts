import type { ESTree } from "vite";
import type { Parameter, Signature } from "../protocol/index.ts";
import { CompileError, type Source } from "./errors.ts";
import { inferredFacts } from "./inference.ts";
import { type Member, type Members, membersOf, propertyKey } from "./members.ts";
import type { Scope, Scopes } from "./scope.ts";
import { decide, type Facts } from "./type-facts.ts";
import { mentionsChecked, type Typed, type TypeReader, typeFacts } from "./types.ts";
import type { FunctionNode, Node } from "./walk.ts";

/** A server function as it stands in its module. */
export interface Declared {
  readonly fn: FunctionNode;
  readonly name: string;
  /** The module, relative to the project's root. */
  readonly file: string;
  readonly line: number;
  /** Something outside the parameters types them: an annotated const, a type argument, `satisfies`. */
  readonly typedElsewhere: boolean;
}

/**
 * Reads the signature of a server function from its parameters.
 *
 * @throws CompileError for a parameter that cannot travel by name, or whose type cannot be told
 */
export function readSignature(declared: Declared, source: Source, scopes: Scopes): Signature {
  const { fn, name, file, line } = declared;
  const reader = new ParameterReader(declared, source, scopes);
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
  private readonly declared: Declared;
  private readonly source: Source;
  private readonly scope: Scope;
  private readonly types: TypeReader;

  constructor(declared: Declared, source: Source, scopes: Scopes) {
    this.declared = declared;
    this.source = source;
    this.scope = scopes.of.get(declared.fn) ?? scopes.module;
    this.types = { source, scopes, path: [] };
  }

  /** Reads one parameter of several, or one that is not destructured. */
  positional(param: ESTree.ParamPattern): Parameter {
    const byDefault = param.type === "AssignmentPattern" ? param : undefined;
    const target: Node = byDefault ? byDefault.left : param;
    if (target.type === "RestElement") {
      return this.refuse("takes its arguments by name, so it has no rest parameter: take one array instead.", target);
    }
    if (target.type === "ObjectPattern") {
      return this.refuse(
        "may take one destructured object, whose keys are then its parameters, or parameters by position: not both.",
        target,
      );
    }
    if (target.type !== "Identifier") {
      return this.refuse("takes its arguments by name, and a destructured array has none: name the parameter.", target);
    }
    if (target.name === "this") {
      return this.refuse(
        "is called on no object, so it has no `this` parameter: take what it needs as a parameter.",
        target,
      );
    }
    const annotation = target.typeAnnotation?.typeAnnotation;
    return this.parameter(target.name, target, {
      ...(annotation ? { type: { node: annotation, scope: this.scope } } : {}),
      ...(byDefault ? { defaultValue: byDefault.right } : {}),
      optional: Boolean(target.optional),
    });
  }

  /** Reads the keys of a single destructured object; `undefined` when the parameter is not one. */
  keyed(param: ESTree.ParamPattern | undefined): Parameter[] | undefined {
    const pattern = param?.type === "AssignmentPattern" ? param.left : param;
    if (pattern?.type !== "ObjectPattern") return undefined;
    if (param?.type === "AssignmentPattern" && !isEmptyObject(param.right)) {
      this.refuse(
        "takes its defaults inside the braces, as `({ n = 3 }: …)`: the whole has none but `{}`.",
        param.right,
      );
    }
    const annotation = pattern.typeAnnotation?.typeAnnotation;
    const members = annotation && this.members({ node: annotation, scope: this.scope });
    if (!annotation) this.requireOwnTypes(pattern, "its parameters");
    return pattern.properties.map((property) => this.key(property, members));
  }

  private key(property: ESTree.BindingProperty | ESTree.BindingRestElement, members: Members | undefined): Parameter {
    if (property.type === "RestElement") {
      return this.refuse("names every key it takes, so it has no rest element: write the keys out.", property);
    }
    const name = propertyKey(property.key, property.computed);
    if (name === undefined) return this.refuse("names every key it takes: write this one out.", property.key);
    const member: Member | undefined = members?.get(name);
    return this.parameter(name, property.key, {
      ...(member?.type ? { type: member.type } : {}),
      ...(property.value.type === "AssignmentPattern" ? { defaultValue: property.value.right } : {}),
      optional: member?.optional ?? false,
      typed: members !== undefined,
    });
  }

  private members(type: Typed): Members | undefined {
    const members = membersOf(type, this.types);
    if (members === undefined && mentionsChecked(type, this.types)) {
      return this.refuse(
        "has parameters whose types cannot be read here: write them as `{ n: int; … }`, an interface or an alias of this module.",
        type.node,
      );
    }
    return members;
  }

  private parameter(name: string, at: Node, written: Written): Parameter {
    if (name === "__proto__") this.refuse("cannot have a parameter named `__proto__`: give it another name.", at);
    if (!written.type && !written.defaultValue && written.typed === undefined) this.requireOwnTypes(at, `\`${name}\``);
    const facts = this.facts(written);
    const { optional, ...check } = decide(facts ?? { kinds: [], literals: [], other: true });
    const mayBeLeftOut = optional || written.optional || written.defaultValue !== undefined;
    return {
      name,
      ...check,
      ...(mayBeLeftOut ? { optional: true } : {}),
      annotation: written.type ? this.text(written.type.node) : (facts?.kinds[0] ?? "").replace("float", "number"),
    };
  }

  private facts(written: Written): Facts | undefined {
    if (written.type) return typeFacts(written.type, this.types);
    return written.defaultValue && inferredFacts(written.defaultValue, this.scope, this.types);
  }

  /** A parameter that gets its type from outside would pass unchecked although it says `int` somewhere. */
  private requireOwnTypes(at: Node, what: string): void {
    if (!this.declared.typedElsewhere) return;
    this.refuse(
      `gets the type of ${what} from elsewhere, where the compile step cannot read it: write it here too.`,
      at,
    );
  }

  private text(node: Node): string {
    return this.source.code.slice(node.start, node.end).replace(/\s+/g, " ");
  }

  private refuse(sentence: string, at: Node): never {
    throw new CompileError(`The server function "${this.declared.name}" ${sentence}`, this.source, at);
  }
}

interface Written {
  readonly type?: Typed;
  readonly defaultValue?: Node;
  readonly optional: boolean;
  /** It is a key of an object type that was read. */
  readonly typed?: boolean;
}

function isEmptyObject(node: Node): boolean {
  return node.type === "ObjectExpression" && node.properties.length === 0;
}
