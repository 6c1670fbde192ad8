/** The functions of the application of the wire suite, and their parameters. */

/** Functions that never throw if their arguments are valid. */
export const RELIABLE_FUNCTIONS = [
  "ping",
  "nothing",
  "echo",
  "echo_async",
  "add",
  "half",
  "flag",
  "maybe",
  "order",
  "values",
  "whoami",
  "secret",
  "require_any",
  "require_admin",
  "request_info",
  "countdown",
  "plain",
  "silent",
  "secret_stream",
  "runs_of",
] as const;

/** The parameters of functions. Values under the right names get past the check for unknown arguments. */
export const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  echo: ["value"],
  echo_async: ["value"],
  add: ["a", "b"],
  half: ["of"],
  flag: ["on"],
  maybe: ["n"],
  order: ["item", "quantity"],
  countdown: ["from"],
  runs_of: ["name"],
  refuse: ["code"],
  crash: ["password"],
  login: ["sub", "roles"],
  breaking: ["kind", "after"],
  login_stream: ["sub"],
};

/** Functions that throw, or that put their arguments into cookies or the session. */
export const OTHER_FUNCTIONS = [
  "refuse",
  "crash",
  "cycle",
  "unknown_code",
  "missing",
  "login",
  "logout",
  "cookies",
  "breaking",
  "login_stream",
];
