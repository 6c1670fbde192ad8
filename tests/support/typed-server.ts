import { strictSignaturesWithin } from "../../src/compile/strict-signatures.ts";
import type { Signature } from "../../src/protocol/index.ts";
import { type ServerFunction, type ServerOptions, server } from "../../src/rpc/index.ts";
import { readTestModule } from "./in-memory-modules.ts";

const IMPORT = 'import { server, type int, type float } from "tsweb";\n';

/** Gives the signature of a function as the compile step reads it of its parameters' text. */
export function typedSignature(name: string, params: string, around = "", fn = "=> 1"): Signature {
  const text = fn.startsWith("=>") ? `(${params}) ${fn}` : fn.replace("()", `(${params})`);
  const code = `${IMPORT}${around}\nexport const ${name} = server(${text});`;
  const [first] = strictSignaturesWithin(readTestModule(`src/${name}.server.ts`, code));
  if (!first) throw new Error("There is no server function in it.");
  return first;
}

/** What a typed function may have beside its parameters. */
export interface TypedServerOptions {
  /** Declarations that its parameters name. */
  readonly around?: string;
  readonly options?: ServerOptions;
  readonly stream?: true;
}

/** Gives a server function as a compiled module has it, its parameters read of this text. */
export function typedServer<A extends readonly unknown[], R>(
  [name, params]: readonly [name: string, params: string],
  fn: (...args: A) => R,
  { around = "", options = {}, stream }: TypedServerOptions = {},
): ServerFunction<A, R> {
  const signature = typedSignature(name, params, around, stream ? "function* () {}" : "=> 1");
  return Reflect.apply(server, undefined, [options, fn, signature]);
}
