/** `true` if two types are identical, not merely assignable to each other. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Fails to compile unless the type argument is `true`: `assertType<Equal<typeof a, string>>()`. */
export function assertType<_Claim extends true>(): void {}
