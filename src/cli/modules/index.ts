export { appStyleSheets, importedModules, type ModuleGraph, sharedModules, styleSheetsOf } from "./module-graph.ts";
export { lineAt, readSourceFiles, type SourceText, withoutComments } from "./source-files.ts";
export { emptyStyleSheets, findStyleSheetUrls, styleSheetUrlFix } from "./style-sheets.ts";
