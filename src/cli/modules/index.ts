export {
  appStyleSheets,
  importedModules,
  lineAt,
  type ModuleGraph,
  readSourceFiles,
  type SourceText,
  sharedModules,
  styleSheetsOf,
  withoutComments,
} from "./module-graph.ts";
export { emptyStyleSheets, findStyleSheetUrls, styleSheetUrlFix } from "./style-sheets.ts";
