export { appStyleSheets, importedModules, type ModuleGraph, sharedModules, styleSheetsOf } from "./module-graph.ts";
export { lineAt, readSourceFiles, type SourceText, withoutComments } from "./source-files.ts";
export { findStyleSheetUrls, styleSheetUrlFix } from "./style-sheet-urls.ts";
export { emptyStyleSheets } from "./style-sheets.ts";
