/**
 * Classes like those of libraries, for tests that serialise their instances.
 */

/** A decimal class without `toJSON`, like those of decimal libraries. */
export class Money {
  readonly cents: bigint;
  constructor(cents: bigint) {
    this.cents = cents;
  }
  plus(other: Money): Money {
    return new Money(this.cents + other.cents);
  }
  toFixed(): string {
    return this.toString();
  }
  toString(): string {
    return `${this.cents / 100n}.${String(this.cents % 100n).padStart(2, "0")}`;
  }
}

/** A class like those of `Temporal`: all members on the prototype, and a `toJSON`. */
export class PlainDate {
  readonly #iso: string;
  constructor(iso: string) {
    this.#iso = iso;
  }
  toJSON(): string {
    return this.#iso;
  }
}
