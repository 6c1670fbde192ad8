import { z } from "zod";

/** The checks of the arguments in frameworks that validate with zod. */
export const echoArguments = z.object({ text: z.string(), n: z.number().int() });
