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
export {
  childrenOf,
  declaredValue,
  type FunctionNode,
  findNode,
  isFunctionNode,
  isMarkup,
  isWrapper,
  keyName,
  keysReadBy,
  memberName,
  memberPath,
  type Node,
  type ReadKey,
  specifierName,
  stringValue,
  unwrapChain,
  unwrapExpression,
  walk,
} from "./nodes.ts";
export {
  hasAssetQuery,
  isInNodeModules,
  isScript,
  languageOf,
  parse,
  rejectRedeclarations,
  stripQuery,
} from "./parse.ts";
export {
  exportsOfLocal,
  expressionsIn,
  findGlobalReferences,
  findModuleReferences,
  type GlobalReference,
  type ModuleExports,
  type ModuleReference,
  type ReferencedName,
  readExports,
} from "./references.ts";
export {
  ancestorsOf,
  type Binding,
  constantValue,
  globalPath,
  type ImportedName,
  nodesOf,
  type PlacedNode,
  readScopes,
  type Scope,
  type Scopes,
  walkScoped,
} from "./scope.ts";
