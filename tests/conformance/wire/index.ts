/** All rows of the wire: the interface, and the design's section 4, rule by rule. */
import { callRows } from "./calls.ts";
import { errorRows } from "./errors.ts";
import type { Row } from "./exchange.ts";
import { idRows } from "./ids.ts";
import { originRows } from "./origins.ts";
import { refusalRows } from "./refusals.ts";
import { visitRows } from "./visits.ts";

export { COMMON, type Row, type Site, VARIANTS, type Variant } from "./exchange.ts";
export { fetchSite, socketSite } from "./sites.ts";

/** The rows by what they are about. */
export const ROWS: Readonly<Record<string, readonly Row[]>> = {
  calls: callRows,
  refusals: refusalRows,
  origins: originRows,
  errors: errorRows,
  ids: idRows,
  visits: visitRows,
};
