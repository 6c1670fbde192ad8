/** What the content security policy of the development server allows in addition to that of the application. */
export interface BuildToolAccess {
  /** The nonce of the build tool's scripts and style elements. */
  readonly nonce: string;
  /** The path to which browsers report violations of the policy. */
  readonly reportPath: string;
}

/** The directives for elements that the build tool adds to pages, and the directives that apply without them. */
const ELEMENT_DIRECTIVES = [
  ["script-src-elem", "script-src"],
  ["style-src-elem", "style-src"],
] as const;

/**
 * Returns the policy of an application with what the build tool needs in a page: its scripts, and the `<style>` elements
 * that it inserts after an edit. They are allowed by a nonce, in directives for elements, so that the policy applies to
 * everything of the application as in production.
 *
 * Browsers send reports of violations to the development server only, not to the endpoint that the application has for
 * production.
 *
 * @param policy the value of the header: one policy, or several that are separated by commas
 * @see docs/protocol.md 12.5
 * @see https://www.w3.org/TR/CSP3/#match-element-to-source-list
 */
export function developmentPolicy(policy: string, access: BuildToolAccess): string {
  return policy
    .split(",")
    .map((single) => allowBuildTool(single, access))
    .join(", ");
}

function allowBuildTool(policy: string, { nonce, reportPath }: BuildToolAccess): string {
  const directives = parsePolicy(policy);
  for (const [name, general] of ELEMENT_DIRECTIVES) {
    const sources = directives.get(name) ?? directives.get(general) ?? directives.get("default-src");
    // With a nonce, browsers ignore 'unsafe-inline': the application's own elements would be blocked in development only.
    if (sources === undefined || sources.some((source) => /^'unsafe-inline'$/i.test(source))) continue;
    const others = sources.filter((source) => !/^'none'$/i.test(source)); // 'none' is valid only alone
    directives.set(name, [...others, `'nonce-${nonce}'`]);
  }
  directives.delete("report-to"); // takes precedence over report-uri
  directives.set("report-uri", [reportPath]);
  return [...directives].map(([name, sources]) => [name, ...sources].join(" ")).join("; ");
}

/**
 * Returns the directives of a policy and their sources. Of two directives with one name, the first applies.
 *
 * @see https://www.w3.org/TR/CSP3/#parse-serialized-policy
 */
export function parsePolicy(policy: string): Map<string, readonly string[]> {
  const directives = new Map<string, readonly string[]>();
  for (const directive of policy.split(";")) {
    const [name = "", ...sources] = directive.trim().split(/\s+/);
    const key = name.toLowerCase();
    if (key !== "" && !directives.has(key)) directives.set(key, sources);
  }
  return directives;
}
