/**
 * The syntax of one module: its tree, as the parser of Vite makes it (ESTree with TypeScript), and what can
 * be read from it without other modules: scopes, exports, references to other modules.
 */
export {
  CompileError,
  type SourceFile,
  type SourceLocation,
  type SourceRange,
  sourceLocation,
} from "./compile-error.ts";
export { type DocComment, docCommentsOf } from "./doc-comments.ts";
export { exportsOfLocal, type ModuleExports, readExports } from "./exports.ts";
export { isWrapper, keysReadBy, memberName, memberPath, type ReadKey } from "./member-path.ts";
export { hasAssetQuery, isInNodeModules, isScript, stripQuery } from "./module-id.ts";
export { findModuleReferences, type ModuleReference, type ReferencedName } from "./module-references.ts";
export { parse, rejectRedeclarations } from "./parse.ts";
export {
  ancestorsOf,
  type Binding,
  type ImportedName,
  nodesOf,
  type PlacedNode,
  readScopes,
  type Scope,
  type Scopes,
  walkScoped,
} from "./scope.ts";
export {
  expressionsIn,
  findGlobalReferences,
  findModuleLevelReferences,
  type GlobalReference,
} from "./value-references.ts";
export {
  childrenOf,
  type FunctionNode,
  isFunctionNode,
  type Node,
  specifierName,
  stringValue,
  unwrapExpression,
  walk,
} from "./walk.ts";
