import { setTimeout as wait } from "node:timers/promises";
import { rows } from "../../../../../../app/src/rows.ts";

export const load = () => ({ figures: wait(2_000, rows.length) });
