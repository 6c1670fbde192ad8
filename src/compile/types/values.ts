/** Infers the types of values, as TypeScript does, for coercion: a default value of a parameter, and `typeof` a const. */
import type { TypeShape } from "../../protocol/index.ts";
import type { Binding, Node } from "../syntax/index.ts";
import { literalShape, uncheckedShape, unionShapes } from "./operations.ts";
import { readOnce, type TypeContext, type TypeNode } from "./type-context.ts";

const ARITHMETIC = new Set(["-", "*", "/", "%", "**", "|", "&", "^", "<<", ">>", ">>>", "+"]);
const COMPARISONS = new Set(["<", "<=", ">", ">=", "==", "!=", "===", "!==", "in", "instanceof"]);

/**
 * Infers the type of a value: `3` is a `number` and `true` a `boolean`, and so are arithmetic, comparisons and the consts
 * of this module. Anything else is unchecked.
 *
 * @throws CompileError as reading a type for coercion does
 */
export function valueShape(value: TypeNode, context: TypeContext): TypeShape {
  const { node } = value;
  const infer = (child: Node) => valueShape({ ...value, node: child }, context);
  switch (node.type) {
    case "ParenthesizedExpression":
    case "TSNonNullExpression":
    case "TSSatisfiesExpression":
      return infer(node.expression);
    case "TSAsExpression":
    case "TSTypeAssertion":
      return isConstAssertion(node.typeAnnotation)
        ? infer(node.expression)
        : context.read({ ...value, node: node.typeAnnotation }, context);
    case "UnaryExpression":
      if (node.operator === "!") return { kinds: ["boolean"] };
      return ["-", "+", "~"].includes(node.operator) ? numericShape([infer(node.argument)]) : uncheckedShape("");
    case "BinaryExpression":
      if (COMPARISONS.has(node.operator)) return { kinds: ["boolean"] };
      return ARITHMETIC.has(node.operator) ? numericShape([infer(node.left), infer(node.right)]) : uncheckedShape("");
    case "ConditionalExpression":
      return unionShapes([infer(node.consequent), infer(node.alternate)], "", context.use);
    case "Identifier": {
      const binding = value.scope.findValue(node.name);
      if (binding) return constantShape(binding, value, context);
      return node.name === "Infinity" || node.name === "NaN" ? { kinds: ["float"] } : uncheckedShape("");
    }
    default:
      return widenLiteral(literalShape(node, ""));
  }
}

/** Reads the type of a const of this module from its annotation, or else from its value. */
export function constantShape(
  { declarations: [declaration], scope }: Binding,
  from: TypeNode,
  context: TypeContext,
): TypeShape {
  if (declaration?.type !== "VariableDeclarator" || declaration.id.type !== "Identifier") return uncheckedShape("");
  const at = { scope, module: from.module };
  const annotation = declaration.id.typeAnnotation?.typeAnnotation;
  const { init } = declaration;
  const shape = readOnce(declaration, context, () => {
    if (annotation) return context.read({ ...at, node: annotation }, context);
    return init ? valueShape({ ...at, node: init }, context) : uncheckedShape("");
  });
  return shape ?? uncheckedShape("");
}

/** Reads `(typeof SIZES)[number]`, where SIZES is an array of literals declared `as const`. */
export function elementShape({ declarations: [declaration] }: Binding): TypeShape {
  const init = declaration?.type === "VariableDeclarator" ? declaration.init : undefined;
  const array = init?.type === "TSAsExpression" && isConstAssertion(init.typeAnnotation) ? init.expression : undefined;
  if (array?.type !== "ArrayExpression") return uncheckedShape("");
  const elements = array.elements.map((element) => (element ? literalShape(element, "") : uncheckedShape("")));
  return unionShapes(elements, "", "coercion");
}

function numericShape(operands: readonly TypeShape[]): TypeShape {
  const areNumbers = operands.every(({ any, kinds }) => any === undefined && kinds && !kinds.includes("boolean"));
  return areNumbers ? { kinds: ["float"] } : uncheckedShape("");
}

/** Widens a literal to its type, as TypeScript does for a default value. A string's type is not checked. */
function widenLiteral(shape: TypeShape): TypeShape {
  const [value] = shape.literals ?? [];
  if (typeof value === "number") return { kinds: ["float"] };
  if (typeof value === "boolean") return { kinds: ["boolean"] };
  return value === undefined ? shape : uncheckedShape("");
}

function isConstAssertion(type: Node): boolean {
  return type.type === "TSTypeReference" && type.typeName.type === "Identifier" && type.typeName.name === "const";
}
