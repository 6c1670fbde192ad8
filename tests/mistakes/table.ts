/** The table of mistakes, of all areas. */
import type { Mistake, Place } from "./mistake.ts";
import { mistakes as build } from "./rows/build.ts";
import { mistakes as calls } from "./rows/calls.ts";
import { mistakes as compile } from "./rows/compile.ts";
import { mistakes as compileImports } from "./rows/compile-imports.ts";
import { mistakes as errors } from "./rows/errors.ts";
import { mistakes as forms } from "./rows/forms.ts";
import { mistakes as habits } from "./rows/habits.ts";
import { mistakes as markup } from "./rows/markup.ts";
import { mistakes as noEffect } from "./rows/no-effect.ts";
import { mistakes as queries } from "./rows/queries.ts";
import { mistakes as silent } from "./rows/silent.ts";
import { mistakes as silentRules } from "./rows/silent-rules.ts";
import { mistakes as terminal } from "./rows/terminal.ts";
import { mistakes as views } from "./rows/views.ts";

export const table: readonly Mistake[] = [
  build,
  calls,
  compile,
  compileImports,
  errors,
  forms,
  habits,
  markup,
  noEffect,
  queries,
  silent,
  silentRules,
  terminal,
  views,
].flat();

/** Returns the rows with a message in at least one of the given places. */
export function rowsWith(...places: readonly Place[]): Mistake[] {
  return table.filter((row) => row.places.some((place) => places.includes(place)));
}
