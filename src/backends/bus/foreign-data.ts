import type { Logger } from "../../logging/index.ts";

/** Logs that a bus has received data that no bus wrote: once, because a server may send any number of them. */
export class ForeignDataLog {
  readonly #log: Logger;
  readonly #fields: Readonly<Record<string, string>>;
  #hasLogged = false;

  /** @param fields identify the server, without user name and password */
  constructor(log: Logger, fields: Readonly<Record<string, string>>) {
    this.#log = log;
    this.#fields = fields;
  }

  /** @param location where the data was, for example the name of a key. The data are not logged. */
  report(location: string): void {
    if (this.#hasLogged) return;
    this.#hasLogged = true;
    this.#log.warn(
      { ...this.#fields, location },
      "Another program writes to the bus; its data is ignored. Give each application a namespace of its own",
    );
  }
}
