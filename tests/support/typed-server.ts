import { strictSignaturesWithin } from "../../src/compile/server-code.ts";
import type { Signature } from "../../src/protocol/index.ts";
import { type ServerFunction, type ServerOptions, server } from "../../src/rpc/index.ts";
import { readTestModule } from "./in-memory-modules.ts";

const IMPORT = 'import { server, type int, type float } from "tsweb";\n';

/**
 * Returns the signature that the compile step reads from source text.
 *
 * @param params the source text of the parameters
 * @param declarations source text before the function, for types that the parameters refer to
 * @param fn the source text of the function's body
 */
export function typedSignature(name: string, params: string, declarations = "", fn = "=> 1"): Signature {
  const text = fn.startsWith("=>") ? `(${params}) ${fn}` : fn.replace("()", `(${params})`);
  const code = `${IMPORT}${declarations}\nexport const ${name} = server(${text});`;
  const [first] = strictSignaturesWithin(readTestModule(`src/${name}.server.ts`, code)).functions;
  if (!first) throw new Error(`There is no server function in:\n${code}`);
  return first;
}

/** The options of {@link typedServer}. */
export interface TypedServerOptions {
  /** Source text of the types that the parameters refer to. */
  readonly declarations?: string;
  readonly options?: ServerOptions;
  readonly stream?: true;
}

/** Returns a server function like a compiled module's, with a signature from the source text of its parameters. */
export function typedServer<A extends readonly unknown[], R>(
  [name, params]: readonly [name: string, params: string],
  fn: (...args: A) => R,
  { declarations = "", options = {}, stream }: TypedServerOptions = {},
): ServerFunction<A, R> {
  const signature = typedSignature(name, params, declarations, stream ? "function* () {}" : "=> 1");
  return Reflect.apply(server, undefined, [options, fn, signature]);
}
