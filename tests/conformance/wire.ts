/**
 * The wire suite: the test cases of docs/protocol.md, run over every way to serve an application. All cases run over tsweb's
 * own servers; in other hosts only those run that a host can change. `npm run matrix` runs all cases over each runtime.
 *
 * The cases need no test runner, so that `npm run matrix` can run them against servers on other runtimes.
 */
import { afterAll, beforeAll, describe, it } from "vitest";
import { type HostComponent, type Target, type Variant, WIRE_CASES } from "./wire/index.ts";

/** Creates the targets of one run of the suite. */
export interface TargetFactory {
  /** Starts the application in one configuration. Called at most once for each variant. */
  open(variant: Variant): Promise<Target>;
  /** Stops all that was started, and removes the build. */
  close(): Promise<void>;
}

/** Selects the cases of one way to serve an application. All cases run by default. */
export interface CaseSelection {
  /** The components in front of the application. The cases that they answer are left out. */
  readonly hostComponents?: readonly HostComponent[];
  /** Runs only the cases whose result a host can change. */
  readonly hostDependent?: boolean;
}

/**
 * Declares the suite for one way to serve an application.
 *
 * @param name how the application is served, as the end of "the wire protocol …"
 */
export function describeWire(
  name: string,
  start: () => Promise<TargetFactory>,
  { hostComponents = [], hostDependent = false }: CaseSelection = {},
): void {
  describe(`the wire protocol ${name}`, () => {
    let factory: TargetFactory;
    const targets = new Map<Variant, Promise<Target>>();

    beforeAll(async () => {
      factory = await start();
    });
    afterAll(async () => {
      await Promise.allSettled(targets.values());
      await factory?.close();
    });

    const targetOf = (variant: Variant) => {
      const target = targets.get(variant) ?? factory.open(variant);
      targets.set(variant, target);
      return target;
    };

    for (const [subject, cases] of Object.entries(WIRE_CASES)) {
      const applicable = cases.filter(
        ({ answeredByHost, variant, ...testCase }) =>
          (!hostDependent || testCase.hostDependent) &&
          (answeredByHost === undefined || !hostComponents.includes(answeredByHost)) &&
          !(variant === "rate" && hostComponents.includes("development")), // calls are not limited in development
      );
      if (applicable.length === 0) continue;
      describe(subject, () => {
        for (const { title, variant, run } of applicable) it(title, async () => run(await targetOf(variant)));
      });
    }
  });
}
