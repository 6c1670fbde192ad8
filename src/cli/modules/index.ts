export { appStyleSheets, importedModules, type ModuleGraph, sharedModules, styleSheetsOf } from "./module-graph.ts";
export { emptyStyleSheets } from "./style-sheets.ts";
