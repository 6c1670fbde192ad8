/** The problem of one environment variable. */
export interface ConfigProblem {
  readonly variable: string;
  /** The problem, with the received value; never with the value of a secret or of a URL that may contain one. */
  readonly problem: string;
  /** How to fix it. */
  readonly fix: string;
}

/** Thrown when the environment is invalid. Its message lists the problems of all variables, each with its fix. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ variable, problem, fix }) => `${variable} ${problem}\n  ${fix}`).join("\n"));
    this.problems = problems;
  }

  override get name(): string {
    return "ConfigError";
  }
}

/** Thrown by the parser of one variable. `loadConfig` collects them into a {@link ConfigError}. */
export class InvalidVariableError extends Error {
  readonly problem: string;
  readonly fix: string;

  constructor(problem: string, fix: string) {
    super(problem);
    this.problem = problem;
    this.fix = fix;
  }
}

/** Returns a value for a message: cut to 60 characters, with control characters escaped for the terminal. */
export function quoteValue(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
