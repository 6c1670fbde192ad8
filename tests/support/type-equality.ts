/** `true` when two types are the same, and not merely assignable to each other. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Holds a claim about types: `is<Same<typeof a, string>>()`. */
export function assertType<_Claim extends true>(): void {}
