/** What a built application knows of its build. `tsweb build` replaces this module. */

/** The name in package.json; `null` in an application that was not built. */
export const builtName: string | null = null as string | null; // the wider type, because the replacement is not null

/** The folder of the build, `dist/`, wherever it was moved to; `null` in an application that was not built. */
export const builtFolder: string | null = null as string | null;
