import type { Signature } from "../../protocol/index.ts";
import type { ModuleFacts } from "../module.ts";
import { inNodeModules } from "../parse.ts";
import type { Imported } from "../scope.ts";
import { originOf, type World } from "../world.ts";
import { shapedSignature } from "./parameters.ts";
import type { Found, Lookup, TypeModule } from "./reading.ts";

/** The server functions of a module with what strict applications check of them. */
export interface Shaped {
  readonly functions: readonly Signature[];
  /** The other modules whose types were read: with them, what is checked changes. */
  readonly files: readonly string[];
}

/** Reads what strict applications check, by the types of this module alone. */
export function shapesWithin(facts: ModuleFacts): readonly Signature[] {
  return read(facts, () => undefined);
}

/** Reads what strict applications check, types of the project's other modules included. */
export async function shapesOf(facts: ModuleFacts, world: World): Promise<Shaped> {
  const known = new Map<string, Found | undefined>();
  const files = new Set<string>();
  // One reading of each module, so that a type which comes back to itself is known again.
  const modules = new Map<string, TypeModule>([[facts.source.file, facts]]);
  for (;;) {
    // What is not known yet is asked for, and then all is read again: types name others, and those again others.
    const wanted = new Map<string, readonly [TypeModule, Imported]>();
    const functions = read(facts, (from, imported) => {
      const key = `${from.source.file}\n${imported.source}\n${imported.name}`;
      if (!known.has(key)) wanted.set(key, [from, imported]);
      return known.get(key);
    });
    if (wanted.size === 0) return { functions, files: [...files] };
    for (const [key, [from, imported]] of wanted) {
      const id = await world.resolve(imported.source, from.source.file);
      const found = id === undefined || inNodeModules(id) ? undefined : await findType(id, imported.name, world);
      if (!found || id === undefined) {
        known.set(key, undefined);
        continue;
      }
      const { file } = found.module.source;
      const module = modules.get(file) ?? found.module;
      modules.set(file, module);
      known.set(key, { ...found, module });
      files.add(id).add(file);
    }
  }
}

function read({ functions, declared, ...module }: ModuleFacts, lookup: Lookup): readonly Signature[] {
  return functions.map((signature, index) => {
    const fn = declared[index];
    return fn ? shapedSignature(signature, fn, module, lookup) : signature;
  });
}

/** Finds the module that declares what another one exports under a name. */
async function findType(id: string, name: string, world: World): Promise<Found | undefined> {
  const origin = await originOf(id, name, world);
  const exported = origin?.facts.exports.named.find((each) => each.name === origin.name);
  return origin && exported?.local !== undefined ? { module: origin.facts, local: exported.local } : undefined;
}
