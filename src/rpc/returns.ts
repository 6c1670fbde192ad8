import { Redirect } from "../http/index.ts";
import type { Signature } from "../protocol/index.ts";
import { type StandardSchema, toIssue } from "./validate.ts";

type Run = (...args: unknown[]) => unknown;

/**
 * Returns a function whose result passes the schema of the option `returns`: callers receive the output of the schema. For
 * a generator, each value passes it. A redirect passes without the schema.
 *
 * A result that does not match is a bug of the application, not of the caller: the call fails with `internal`, and the
 * log has the path inside the result.
 */
export function withResultSchema(run: Run, schema: StandardSchema, { name, stream }: Signature): Run {
  const check = async (result: unknown): Promise<unknown> => {
    const outcome = await runResultSchema(schema, result, name);
    if (outcome.issues === undefined) return outcome.value;
    const { location, message } = toIssue(stream ? "value" : "result", outcome.issues, result);
    throw new Error(`The result of ${name} does not match its schema \`returns\`: ${location}: ${message}`);
  };
  if (!stream) {
    return async (...args) => {
      const result = await run(...args);
      return result instanceof Redirect ? result : check(result);
    };
  }
  return async function* (...args) {
    let returned: unknown; // it may be a redirect
    const values = (async function* () {
      // A function with `stream` in its signature was declared with function*, so it returns a generator.
      returned = yield* run(...args) as AsyncIterable<unknown>;
    })();
    for await (const value of values) yield check(value);
    return returned;
  };
}

/** Runs a schema. An error that it throws is a bug, also if it would be a message for the caller of a function. */
async function runResultSchema(schema: StandardSchema, value: unknown, name: string) {
  try {
    return await schema["~standard"].validate(value);
  } catch (error) {
    throw new Error(`The schema \`returns\` of ${name} threw an error`, { cause: error });
  }
}
