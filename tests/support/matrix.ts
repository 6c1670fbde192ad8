/**
 * Whether the tests run by `npm run matrix`: then also those variants run whose short version is in `npm test`.
 */
export const IS_MATRIX = process.env.TSWEB_TEST_MATRIX === "1";
