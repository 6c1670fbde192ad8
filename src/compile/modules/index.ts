/**
 * What the compile step reads of the modules of an application: their declarations and signatures, what they export and import,
 * and which of them are for the server only.
 */
export type { Declaration } from "./declarations.ts";
export {
  exportedValue,
  locationIn,
  type ModuleFacts,
  type ModuleResolver,
  originOf,
  type ResolvedExport,
  readModule,
  resolveExport,
  resolveImported,
} from "./module-facts.ts";
export { type Endpoint, repeatedPathMessage } from "./page-paths.ts";
export {
  appModuleElements,
  appModuleValues,
  appOptions,
  isEndpoint,
  isServerFunction,
  layoutsOfApp,
  type ReExport,
  readModuleList,
  readServedFunctions,
  reExportedStubs,
  type ServedFunctions,
  servedFunctions,
} from "./served-functions.ts";
export {
  type FileReference,
  isServerModule,
  isServerOnly,
  ProjectError,
  realPath,
  relativePath,
  ServerOnlyError,
  serverOnlyFile,
  serverOnlyMessage,
} from "./server-only.ts";
export {
  actionsOf,
  attributesOf,
  type FoundComponent,
  findComponents,
  importedElements,
  importedNameOf,
  isActionName,
  isData,
  isFunctionValue,
  isIntrinsicName,
  possibleValues,
  tswebMemberOf,
} from "./values.ts";
