/** A call of an import, as Vite compiles it for the server: `(0, __vite_ssr_import_0__.sign)(…)`. V8 adds a space. */
const CALLED_IMPORT = /\(0 ?, ?__vite_ssr_import_\d+__\.(?<name>[\w$]+(?:\.[\w$]+)*)\)/g;

/** A module of which the compiled code reads a member: an import, or the module itself. */
const MODULE = /\b__vite_ssr_(?:import_\d+|exports)__\./g;

/** Returns a message with the names that the source has, in place of those that Vite writes into its compiled code. */
export function withoutCompiledNames(message: string): string {
  return message
    .replace(CALLED_IMPORT, "$<name>")
    .replace(MODULE, "")
    .replace(/\b__vite_ssr_import_meta__\b/g, "import.meta");
}
