import type { ESTree } from "vite";
import type { ObjectFields, TypeShape } from "../../protocol/index.ts";
import type { Binding, ImportedName, Node } from "../syntax/index.ts";
import { readFields } from "./object-types.ts";
import { joinFields, uncheckedShape } from "./operations.ts";
import { type ShapeContext, sourceText, type TypeNode } from "./shape-context.ts";
import { type TypeReference, utilityTypeShape } from "./utility-types.ts";

/** Reads a type reference: to a type of this module, an imported type or a global type. */
export function referenceShape(type: TypeNode, node: ESTree.TSTypeReference, context: ShapeContext): TypeShape {
  const name = node.typeName;
  if (name.type === "Identifier") return namedShape(type, name.name, node, context);
  if (name.type !== "TSQualifiedName" || name.left.type !== "Identifier") return uncheckedShape(sourceText(type));
  const namespace = type.scope.findType(name.left.name)?.imported;
  if (namespace?.name !== "*") return uncheckedShape(sourceText(type));
  return importedShape(type, { source: namespace.source, name: name.right.name }, node, context);
}

function namedShape(type: TypeNode, name: string, reference: TypeReference, context: ShapeContext): TypeShape {
  const binding = type.scope.findType(name);
  if (!binding) return utilityTypeShape(name, { ...type, node: reference }, reference, context);
  if (binding.imported) return importedShape(type, binding.imported, reference, context);
  return declaredShape(binding, type, reference, context);
}

/** Reads an imported type: `int` and `float` of tsweb, or a type of another module of the project. */
export function importedShape(
  type: TypeNode,
  imported: ImportedName,
  reference: TypeReference,
  context: ShapeContext,
): TypeShape {
  const { source, name } = imported;
  if (source === "tsweb" && (name === "int" || name === "float")) return { kinds: [name] };
  const target = context.lookup(type.module, imported);
  const binding = target?.module.scopes.module.findType(target.local);
  if (!target || !binding || binding.imported) return uncheckedShape(sourceText({ ...type, node: reference }));
  return declaredShape(binding, type, reference, context, target.module);
}

function declaredShape(
  binding: Binding,
  type: TypeNode,
  reference: TypeReference,
  context: ShapeContext,
  module = type.module,
): TypeShape {
  const text = sourceText({ ...type, node: reference });
  const [declaration] = binding.declarations;
  switch (declaration?.type) {
    case "TSTypeParameter": {
      const argument = type.typeArguments.get(declaration);
      if (argument) return typeArgumentShape(argument, context);
      return declaration.constraint
        ? context.read({ ...type, node: declaration.constraint }, context)
        : uncheckedShape(text);
    }
    case "TSTypeAliasDeclaration": {
      const target = declaredType(declaration, { type, reference, module, outer: binding.scope, context });
      return recursiveShape(declaration, type, reference, context, () =>
        nameObject(declaration, context.read({ ...target, node: declaration.typeAnnotation }, context), context),
      );
    }
    case "TSInterfaceDeclaration": {
      const parts = binding.declarations.filter((node) => node.type === "TSInterfaceDeclaration");
      if (parts.length < binding.declarations.length) return uncheckedShape(text); // merged with a class
      const types = parts.map((part) => declaredType(part, { type, reference, module, outer: binding.scope, context }));
      return recursiveShape(declaration, type, reference, context, () =>
        nameObject(declaration, interfaceShape(parts, types, text, context), context),
      );
    }
    default:
      return uncheckedShape(text);
  }
}

/** Reads an interface: all declarations of its name, and the interfaces that they extend. */
function interfaceShape(
  parts: readonly ESTree.TSInterfaceDeclaration[],
  types: readonly TypeNode[],
  text: string,
  context: ShapeContext,
): TypeShape {
  const ownFields: ObjectFields[] = [];
  const inheritedFields: ObjectFields[] = [];
  for (const [index, declaration] of parts.entries()) {
    const type = types[index];
    const fields = type && readFields(type, declaration.body.body, context);
    if (!fields) return uncheckedShape(text);
    ownFields.push(fields);
    for (const heritage of declaration.extends) {
      const parent = heritage.expression.type === "Identifier" ? heritage.expression.name : undefined;
      const object = parent === undefined ? undefined : namedShape(type, parent, heritage, context).object;
      if (!object || !("fields" in object)) return uncheckedShape(text);
      inheritedFields.push(object);
    }
  }
  const overridden = new Set(ownFields.flatMap((object) => object.fields.map(([name]) => name)));
  const keptFields = inheritedFields.map((object) => ({
    ...object,
    fields: object.fields.filter(([name]) => !overridden.has(name)),
  }));
  const object = joinFields([...keptFields, ...ownFields].filter(({ fields, rest }) => fields.length > 0 || rest));
  return object && object.fields.length + (object.rest ? 1 : 0) > 0 ? { object } : uncheckedShape(text);
}

/** Adds the name of its declaration to an object type of a result. A generic type has a shape for each use, and no name. */
function nameObject({ id, typeParameters }: GenericDeclaration, shape: TypeShape, { use }: ShapeContext): TypeShape {
  const { object, ...others } = shape;
  if (use === "argument" || typeParameters || !object || object.name !== undefined) return shape;
  return Object.keys(others).length === 0 ? { object: { name: id.name, ...object } } : shape;
}

type GenericDeclaration = ESTree.TSTypeAliasDeclaration | ESTree.TSInterfaceDeclaration;

interface DeclarationReference {
  readonly type: TypeNode;
  readonly reference: TypeReference;
  readonly module: TypeNode["module"];
  readonly outer: TypeNode["scope"];
  readonly context: ShapeContext;
}

/** Returns the type of a declaration, with the reference's type arguments bound to its type parameters. */
function declaredType(
  declaration: GenericDeclaration,
  { type, reference, module, outer, context }: DeclarationReference,
): TypeNode {
  const scope = module.scopes.byNode.get(declaration) ?? outer;
  const typeArguments = new Map<Node, TypeNode>();
  declaration.typeParameters?.params.forEach((parameter, index) => {
    const argument = reference.typeArguments?.params[index];
    if (argument) typeArguments.set(parameter, { ...type, node: argument, openDepth: context.open.length });
    else if (parameter.default) typeArguments.set(parameter, { node: parameter.default, scope, module, typeArguments });
  });
  return { node: declaration, scope, module, typeArguments };
}

/** Reads a type argument with the declarations open that were open where it is written. */
function typeArgumentShape(argument: TypeNode, context: ShapeContext): TypeShape {
  const inner = context.open.splice(argument.openDepth ?? context.open.length);
  const shape = context.read(argument, context);
  context.open.push(...inner);
  return shape;
}

/** Reads a declaration once. Where it refers to itself, its shape is a `ref`. */
function recursiveShape(
  declaration: GenericDeclaration,
  type: TypeNode,
  reference: TypeReference,
  context: ShapeContext,
  read: () => TypeShape,
): TypeShape {
  const outer = context.open.find((open) => open.declaration === declaration);
  if (outer) {
    // Without an array or object in between, or with different type arguments, the expansion would never end.
    const endsExpansion = context.depth > outer.depth && passesOwnTypeParameters(declaration, type, reference);
    if (!endsExpansion) return uncheckedShape(sourceText({ ...type, node: reference }));
    outer.ref ??= context.shapes.push({}) - 1;
    return { ref: outer.ref };
  }
  const open: ShapeContext["open"][number] = { declaration, depth: context.depth };
  context.open.push(open);
  const shape = read();
  context.open.pop();
  if (open.ref !== undefined) context.shapes[open.ref] = { ...shape, name: declaration.id.name };
  return shape;
}

/** Returns whether a reference inside a declaration passes the declaration's own type parameters, in order. */
function passesOwnTypeParameters(
  { typeParameters }: GenericDeclaration,
  { scope }: TypeNode,
  { typeArguments }: TypeReference,
): boolean {
  return (typeParameters?.params ?? []).every((parameter, index) => {
    const argument = typeArguments?.params[index];
    if (argument?.type !== "TSTypeReference" || argument.typeName.type !== "Identifier") return false;
    return scope.findType(argument.typeName.name)?.declarations[0] === parameter;
  });
}
