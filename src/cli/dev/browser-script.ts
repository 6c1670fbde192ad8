import { REPORT_ERRORS } from "./error-reports-script.ts";
import { reloadOutdatedPages } from "./outdated-page-script.ts";
import { CHECK_PAGE } from "./page-check-script.ts";

/**
 * Returns the script that each page of the development server loads before all others. Its parts share one scope: the later
 * ones use what the first one declares.
 *
 * @param editsPath the path that responds with the version of the files
 */
export const browserScript = (editsPath: string): string =>
  `${REPORT_ERRORS}${reloadOutdatedPages(editsPath)}${CHECK_PAGE}`;
