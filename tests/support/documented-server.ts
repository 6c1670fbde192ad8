import { strictSignatures } from "../../src/compile/server-code.ts";
import type { Signature } from "../../src/protocol/index.ts";
import { type ServerFunction, type ServerOptions, server } from "../../src/rpc/index.ts";
import { inMemoryResolver, readTestModule } from "./in-memory-modules.ts";

const HEAD = 'import { server, type int, type float } from "tsweb";\n';

/**
 * Returns the signatures of a module's server functions with their documentation, as the development server has them.
 *
 * @param otherFiles modules that it imports, by their paths
 * @throws CompileError when the module breaks a rule of the compile step
 */
export async function documentedSignatures(
  code: string,
  otherFiles: Readonly<Record<string, string>> = {},
): Promise<readonly Signature[]> {
  const file = "src/shop.server.ts";
  const facts = readTestModule(file, HEAD + code);
  const resolver = inMemoryResolver(otherFiles);
  return (await strictSignatures(facts, resolver, { documented: true })).functions;
}

/** Returns the first server function of a module as the development server has it. Its body does nothing. */
export async function documentedServer(
  code: string,
  options: ServerOptions = {},
): Promise<ServerFunction<readonly unknown[], unknown>> {
  const [signature] = await documentedSignatures(code);
  if (!signature) throw new Error(`There is no server function in:\n${code}`);
  return Reflect.apply(server, undefined, [options, () => undefined, signature]);
}
