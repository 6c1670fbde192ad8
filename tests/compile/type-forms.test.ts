/**
 * The shapes that the compile step reads of types, compared with TypeScript itself: a shape is written as a TypeScript type
 * and must accept every value of the type. Without unknown parts, it must be the same type.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { repository } from "#test/copy-example";
import { documentedSignatures } from "#test/documented-server";
import { TestProject } from "#test/test-project";
import { CompileError } from "../../src/compile/syntax/index.ts";
import type { Signature, TypeShape } from "../../src/protocol/index.ts";
import { isExact, type ShapeNotation, shapeSource, valueSource } from "./shape-source.ts";
import { DECLARATIONS, FORMS, IMPORTED, IMPORTS, randomForms } from "./type-forms.ts";

interface Reading {
  readonly form: string;
  readonly result: TypeShape;
  readonly argument: TypeShape | undefined;
  /** Lines of the TypeScript module that compares both with the type. */
  readonly lines: readonly string[];
}

const HEAD = `
import type { SerializedResult } from "${join(repository, "src/protocol/serialized.ts")}";
type int = number;
type float = number;
type Ok<T extends true> = T;
type Accepts<Shape, T> = [T] extends [Shape] ? true : false;
type Argument<T> = T extends void ? undefined : T;
type Sent<T> = SerializedResult<Awaited<T>>;
${IMPORTS}${DECLARATIONS}`;

async function signatureOf(code: string): Promise<Signature | undefined> {
  const [signature] = await documentedSignatures(`${IMPORTS}${DECLARATIONS}export const f = server(${code});`, {
    "src/other.ts": IMPORTED,
  });
  return signature;
}

/** Returns the shape of what a strict application accepts for the parameter. */
async function argumentShape(form: string): Promise<{ shape: TypeShape; shapes: readonly TypeShape[] } | undefined> {
  try {
    const signature = await signatureOf(`(a: ${form}) => 1`);
    const [parameter] = signature?.params ?? [];
    if (!parameter) return undefined;
    const { type, shape, literals, nullable, optional } = parameter;
    if (shape) return { shape, shapes: signature?.shapes ?? [] };
    const flags = { ...(nullable ? { nullable } : {}), ...(optional ? { optional } : {}) };
    const coerced: TypeShape =
      type === "any" ? { any: form } : { kinds: [type], ...(literals ? { literals } : {}), ...flags };
    return { shape: coerced, shapes: [] };
  } catch (error) {
    if (error instanceof CompileError) return undefined; // the compile step refuses the type for a parameter
    throw error;
  }
}

/** Returns the declarations of a shape as a type, and of the recursive types that it refers to. */
function typesOf(
  name: string,
  shape: TypeShape,
  shapes: readonly TypeShape[],
  options: Omit<ShapeNotation, "nameOf">,
): string[] {
  const notation = { ...options, nameOf: (ref: number) => `${name}_${ref}` };
  return [
    ...shapes.map((recursive, ref) => `type ${name}_${ref} = ${shapeSource(recursive, notation)};`),
    `type ${name} = ${valueSource(shape, notation)};`,
  ];
}

/** Returns whether a shape is expected to be wider than the type: brands and templates are not part of JSON. */
function isWider(form: string): boolean {
  return /`|&|Brand|Email|number, 1>|typeof LIMIT/.test(form);
}

async function read(form: string, index: number): Promise<Reading> {
  const documentation = (await signatureOf(`function (): ${form} { return null as never; }`))?.documentation;
  const result = documentation?.result ?? { any: "" };
  const argument = await argumentShape(form);
  const shapes = documentation?.resultShapes ?? [];
  const lines = [
    `type T${index} = ${form};`,
    ...typesOf(`R${index}`, result, shapes, { json: true, readonly: false }),
    // `Serialized` has an array of a union for a tuple with a rest element. The shape is narrower, as the result is.
    form.includes("...") ? "" : `type RA${index} = Ok<Accepts<R${index}, Sent<T${index}>>>;`,
    isExact([result, shapes]) && !isWider(form) ? `type RE${index} = Ok<Accepts<Sent<T${index}>, R${index}>>;` : "",
  ];
  if (argument) {
    lines.push(
      ...typesOf(`A${index}`, argument.shape, argument.shapes, { json: false, readonly: true }),
      ...typesOf(`M${index}`, argument.shape, argument.shapes, { json: false, readonly: false }),
      `type AA${index} = Ok<Accepts<A${index}, Argument<T${index}>>>;`,
      isExact(argument) && !isWider(form) ? `type AE${index} = Ok<Accepts<T${index}, M${index}>>;` : "",
    );
  }
  return { form, result, argument: argument?.shape, lines };
}

let project: TestProject;
const problems: string[] = [];
let valid = 0;

beforeAll(async () => {
  project = TestProject.fromFiles({
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        target: "es2023",
        lib: ["ES2023", "DOM"],
        module: "nodenext",
        allowImportingTsExtensions: true,
        skipLibCheck: true,
        typeRoots: [join(repository, "node_modules/@types")],
        types: ["node"],
      },
      include: ["src"],
    }),
    "src/other.ts": IMPORTED,
  });
  const seed = Number(process.env.TYPE_FORMS_SEED ?? 1);
  const count = Number(process.env.TYPE_FORMS ?? 150);
  const readings: Reading[] = [];
  for (const [index, form] of [...FORMS, ...randomForms(seed, count)].entries()) readings.push(await read(form, index));
  const head = HEAD.split("\n");
  const origins = head.map((): [Reading | undefined, string] => [undefined, ""]);
  for (const reading of readings) origins.push(...reading.lines.map((line): [Reading, string] => [reading, line]));
  project.write("src/check.ts", [...head, ...readings.flatMap(({ lines }) => lines)].join("\n"));
  const tsc = spawnSync(process.execPath, [join(repository, "node_modules/typescript/bin/tsc"), "-p", project.dir], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  const errors = [...tsc.stdout.matchAll(/check\.ts\((\d+),\d+\): error (.*)/g)].map(([, line, message]) => {
    const [reading, text] = origins[Number(line) - 1] ?? [undefined, ""];
    return { reading, text, message };
  });
  // A form that TypeScript itself rejects, such as a type argument that breaks a constraint, is left out.
  const invalid = new Set(errors.filter(({ text }) => text.startsWith("type T")).map(({ reading }) => reading));
  valid = readings.length - invalid.size;
  for (const { reading, text, message } of errors) {
    if (invalid.has(reading) && reading) continue;
    const shape = text.startsWith("type R") ? reading?.result : reading?.argument;
    problems.push(`${reading?.form}: ${text || message} — ${JSON.stringify(shape)}`);
  }
});
afterAll(() => project?.remove());

describe("the shapes of types", () => {
  test("accept what TypeScript accepts, and are the same types unless a part is unknown", () => {
    expect(problems).toEqual([]);
    expect(valid).toBeGreaterThan(FORMS.length);
  });
});
