import type { ESTree } from "vite";
import type { Parameter, Shape, Signature } from "../../protocol/index.ts";
import { CompileError } from "../errors.ts";
import { inferredFacts } from "../inference.ts";
import { type FunctionNode, type Node, stringValue } from "../walk.ts";
import { unchecked } from "./algebra.ts";
import { fromFacts, readShape } from "./read.ts";
import { type Lookup, MAX_PARTS, type Reading, type Site, startReading, type TypeModule } from "./reading.ts";

/** Adds to a signature what a strict application checks of each parameter. */
export function shapedSignature(signature: Signature, fn: FunctionNode, module: TypeModule, lookup: Lookup): Signature {
  const reading = startReading(lookup);
  const site: Omit<Site, "node"> = {
    module,
    scope: module.scopes.of.get(fn) ?? module.scopes.module,
    given: new Map(),
  };
  const shapes = signature.keyed ? keyedShapes(fn, site, reading) : fn.params.map((param) => one(param, site, reading));
  const params = signature.params.map((parameter, index) => shaped(parameter, shapes[index]));
  return { ...signature, params, ...(reading.shapes.length > 0 ? { shapes: reading.shapes } : {}) };
}

/**
 * Leaves out a shape that says nothing: one that is not checked, or no more than its coercion. One that is
 * coerced, by an alias of another module, is coerced whether the application is strict or not.
 */
function shaped(parameter: Parameter, shape: Shape | undefined): Parameter {
  if (!shape || shape.any !== undefined) return parameter;
  const { kinds = [], list, object, ref, nullable, optional, literals } = shape;
  const [kind] = kinds;
  if (list || object || ref !== undefined || kinds.length !== 1 || !kind) return { ...parameter, shape };
  if (kind === parameter.type) return parameter;
  if (kind === "string" || parameter.type !== "any") return { ...parameter, shape };
  return {
    ...parameter,
    type: kind,
    ...(nullable ? { nullable } : {}),
    ...(optional ? { optional } : {}),
    ...(literals ? { literals } : {}),
  };
}

function one(param: ESTree.ParamPattern, site: Omit<Site, "node">, reading: Reading): Shape {
  reading.left = MAX_PARTS;
  const byDefault = param.type === "AssignmentPattern" ? param : undefined;
  const target: Node = byDefault ? byDefault.left : param;
  const annotation = target.type === "Identifier" ? target.typeAnnotation?.typeAnnotation : undefined;
  if (annotation) return readShape({ ...site, node: annotation }, reading);
  return byDefault ? inferredShape(byDefault.right, site) : unchecked("");
}

/** Reads the keys of the one destructured object, in their order. */
function keyedShapes(fn: FunctionNode, site: Omit<Site, "node">, reading: Reading): Shape[] {
  const [param] = fn.params;
  const pattern = param?.type === "AssignmentPattern" ? param.left : param;
  if (pattern?.type !== "ObjectPattern") return [];
  const annotation = pattern.typeAnnotation?.typeAnnotation;
  const object = annotation && readShape({ ...site, node: annotation }, reading).object;
  const fields = new Map(object && "fields" in object ? object.fields : []);
  return pattern.properties.map((property) => {
    if (property.type === "RestElement" || property.computed) return unchecked("");
    const { key, value } = property;
    const name = key.type === "Identifier" ? key.name : stringValue(key);
    const typed = name === undefined ? undefined : fields.get(name);
    if (typed || annotation) return typed ?? unchecked("");
    return value.type === "AssignmentPattern" ? inferredShape(value.right, site) : unchecked("");
  });
}

/** A default's type, as TypeScript infers it: text is a string, the rest as for coercion. */
function inferredShape(value: Node, site: Omit<Site, "node">): Shape {
  const { scopes, source } = site.module;
  if (stringValue(value) !== undefined || value.type === "TemplateLiteral") return { kinds: ["string"] };
  try {
    return fromFacts(inferredFacts(value, site.scope, { scopes, source, path: [] }), { ...site, node: value });
  } catch (error) {
    if (error instanceof CompileError) return unchecked(""); // it is told where the signature is read
    throw error;
  }
}
