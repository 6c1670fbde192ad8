/**
 * Classes as libraries have them, whose values are sent.
 */

/** A decimal class as the libraries have them, without a `toJSON`. */
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

/** As `Temporal`'s classes are: everything on the prototype, and a `toJSON`. */
export class PlainDate {
  readonly #iso: string;
  constructor(iso: string) {
    this.#iso = iso;
  }
  toJSON(): string {
    return this.#iso;
  }
}
