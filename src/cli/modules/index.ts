export {
  appStyleSheets,
  emptyStyleSheets,
  findStyleSheetUrls,
  importedModules,
  lineAt,
  type ModuleGraph,
  readSourceFiles,
  type SourceText,
  sharedModules,
  styleSheetsOf,
  styleSheetUrlFix,
  withoutComments,
} from "./module-graph.ts";
