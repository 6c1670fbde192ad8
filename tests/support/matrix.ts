import { it } from "vitest";

/**
 * Whether the tests run by `npm run matrix`: then also those variants run whose short version is in `npm test`.
 */
export const IS_MATRIX = process.env.TSWEB_TEST_MATRIX === "1";

/** Declares a test that only `npm run matrix` runs: what it shows is shown by another one in `npm test`, for another variant. */
export const itInMatrix: (title: string, run: () => Promise<void>) => void = IS_MATRIX ? it : () => undefined;
