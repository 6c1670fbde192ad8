/**
 * The condition under which `package.json` exports the bundles for `tsweb dev`. Its process loads the package, for itself and
 * for the application, from a few files instead of 370.
 */
export const CONDITION = "tsweb-dev";

/** The option of Node for the process of `tsweb dev`. */
export const CONDITION_FLAG = `--conditions=${CONDITION}`;
