import type { Mistake } from "../mistake.ts";

export const mistakes: readonly Mistake[] = [];
