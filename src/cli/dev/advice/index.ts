/**
 * What `tsweb dev` reports to the developer: errors in the terminal, in pages and in the overlay, and how to fix a mistake.
 * The development server knows none of it.
 */

export { browserErrors } from "./browser-errors.ts";
export { checkPackageOptions, explainOverlayErrors, logViteErrors } from "./error-messages.ts";
export { type ErrorPageOptions, errorPage, PageChecks, reloadAfterEdits, remoteErrorPage } from "./page-checks.ts";
export { PolicyViolations } from "./policy-violations.ts";
export { declarationOf, explainThrownValue, withUnawaitedFileCall } from "./thrown-values.ts";
export { unloadedPageAdvice } from "./unloaded-pages.ts";
export { UnpublishedChanges } from "./unpublished-changes.ts";
export { UnservedRequests } from "./unserved-requests.ts";
