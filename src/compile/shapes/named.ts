import type { ESTree } from "vite";
import type { Shape } from "../../protocol/index.ts";
import type { Binding, Imported } from "../scope.ts";
import type { Node } from "../walk.ts";
import { unchecked } from "./algebra.ts";
import { interfaceShape } from "./objects.ts";
import { readShape } from "./read.ts";
import { type Reading, type Site, textOf } from "./reading.ts";
import { utilityShape } from "./utilities.ts";

/** What refers to a type by its name, and may give it arguments. */
export type Reference = Node & { readonly typeArguments: ESTree.TSTypeParameterInstantiation | null };

/** Reads a type that is named: one of this module, an imported one, or one that every module has. */
export function referenceShape(site: Site, node: ESTree.TSTypeReference, reading: Reading): Shape {
  const name = node.typeName;
  if (name.type === "Identifier") return namedShape(site, name.name, node, reading);
  if (name.type !== "TSQualifiedName" || name.left.type !== "Identifier") return unchecked(textOf(site));
  const namespace = site.scope.type(name.left.name)?.imported;
  if (namespace?.name !== "*") return unchecked(textOf(site));
  return importedShape(site, { source: namespace.source, name: name.right.name }, node, reading);
}

/** Reads what a name means where it stands. */
export function namedShape(site: Site, name: string, reference: Reference, reading: Reading): Shape {
  const binding = site.scope.type(name);
  if (!binding) return utilityShape(name, { ...site, node: reference }, reference, reading);
  if (binding.imported) return importedShape(site, binding.imported, reference, reading);
  return declaredShape(binding, site, reference, reading);
}

/** Reads a type that another module declares: tsweb's own numbers, or one of the project. */
export function importedShape(site: Site, imported: Imported, reference: Reference, reading: Reading): Shape {
  const { source, name } = imported;
  if (source === "tsweb" && (name === "int" || name === "float")) return { kinds: [name] };
  const found = reading.lookup(site.module, imported);
  const binding = found?.module.scopes.module.type(found.local);
  if (!found || !binding || binding.imported) return unchecked(textOf({ ...site, node: reference }));
  return declaredShape(binding, site, reference, reading, found.module);
}

function declaredShape(
  binding: Binding,
  site: Site,
  reference: Reference,
  reading: Reading,
  module = site.module,
): Shape {
  const text = textOf({ ...site, node: reference });
  const [declared] = binding.nodes;
  switch (declared?.type) {
    case "TSTypeParameter": {
      const given = site.given.get(declared);
      if (given) return argumentShape(given, reading);
      return declared.constraint ? readShape({ ...site, node: declared.constraint }, reading) : unchecked(text);
    }
    case "TSTypeAliasDeclaration": {
      const here = declaredSite(declared, { site, reference, module, outer: binding.scope, reading });
      return openShape(declared, site, reference, reading, () =>
        readShape({ ...here, node: declared.typeAnnotation }, reading),
      );
    }
    case "TSInterfaceDeclaration": {
      const parts = binding.nodes.filter((node) => node.type === "TSInterfaceDeclaration");
      if (parts.length < binding.nodes.length) return unchecked(text); // merged with a class
      const sites = parts.map((part) => declaredSite(part, { site, reference, module, outer: binding.scope, reading }));
      return openShape(declared, site, reference, reading, () => interfaceShape(parts, sites, text, reading));
    }
    default:
      return unchecked(text);
  }
}

type Generic = ESTree.TSTypeAliasDeclaration | ESTree.TSInterfaceDeclaration;

interface Referred {
  readonly site: Site;
  readonly reference: Reference;
  readonly module: Site["module"];
  readonly outer: Site["scope"];
  readonly reading: Reading;
}

/** Gives the place of a declaration, its type parameters paired with what the reference gives for them. */
function declaredSite(declared: Generic, { site, reference, module, outer, reading }: Referred): Site {
  const scope = module.scopes.of.get(declared) ?? outer;
  const given = new Map<Node, Site>();
  declared.typeParameters?.params.forEach((parameter, index) => {
    const argument = reference.typeArguments?.params[index];
    if (argument) given.set(parameter, { ...site, node: argument, opened: reading.open.length });
    else if (parameter.default) given.set(parameter, { node: parameter.default, scope, module, given });
  });
  return { node: declared, scope, module, given };
}

/** Reads a type argument as where it stands, which is not inside the declaration that it is given to. */
function argumentShape(given: Site, reading: Reading): Shape {
  const inside = reading.open.splice(given.opened ?? reading.open.length);
  const shape = readShape(given, reading);
  reading.open.push(...inside);
  return shape;
}

/** Reads a declaration once: where it turns up again inside itself, it is referred to. */
function openShape(declared: Generic, site: Site, reference: Reference, reading: Reading, read: () => Shape): Shape {
  const again = reading.open.find((open) => open.declared === declared);
  if (again) {
    // In itself without an array or object between, or with other arguments, it would never end.
    const ends = reading.depth > again.depth && sameArguments(declared, site, reference);
    if (!ends) return unchecked(textOf({ ...site, node: reference }));
    again.ref ??= reading.shapes.push({}) - 1;
    return { ref: again.ref };
  }
  const open: Reading["open"][number] = { declared, depth: reading.depth };
  reading.open.push(open);
  const shape = read();
  reading.open.pop();
  if (open.ref !== undefined) reading.shapes[open.ref] = shape;
  return shape;
}

/** Answers whether a reference inside a declaration gives it its own type parameters, in their order. */
function sameArguments({ typeParameters }: Generic, { scope }: Site, { typeArguments }: Reference): boolean {
  return (typeParameters?.params ?? []).every((parameter, index) => {
    const argument = typeArguments?.params[index];
    if (argument?.type !== "TSTypeReference" || argument.typeName.type !== "Identifier") return false;
    return scope.type(argument.typeName.name)?.nodes[0] === parameter;
  });
}
