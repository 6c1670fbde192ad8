import type { ModuleFacts } from "../modules/index.ts";
import { CompileError, type Node, nodesOf } from "../syntax/index.ts";

/** Secrets that their form identifies. Publishable keys have other forms. */
const SECRETS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a secret key of Stripe", /\b[rs]k_(?:live|test)_[0-9A-Za-z]{8,}/],
  ["a webhook secret of Stripe", /\bwhsec_[0-9A-Za-z+/=]{16,}/],
  ["a token of GitHub", /\b(?:gh[pousr]_[0-9A-Za-z]{36}|github_pat_[0-9A-Za-z_]{40,})/],
  ["a token of GitLab", /\bglpat-[0-9A-Za-z_-]{20}/],
  ["a token of Slack", /\bxox[bpars]-[0-9A-Za-z-]{20,}/],
  ["a token of npm", /\bnpm_[0-9A-Za-z]{36}/],
  ["a key of OpenAI or Anthropic", /\bsk-(?:proj|ant|svcacct)-[0-9A-Za-z_-]{20,}/],
  ["a key of SendGrid", /\bSG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{40,}/],
  ["a private key", /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/],
  [
    "an address with a password",
    /\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|nats):\/\/[^\s:@/]*:[^\s@/]+@/,
  ],
];

/**
 * Rejects secrets in the texts of a module that browsers load: everybody could read them there. Only forms that nothing else has
 * are recognised, so other secrets are not.
 *
 * @throws CompileError at the text. Neither its message nor its frame contains the secret
 */
export function checkSecretLiterals({ scopes, source }: ModuleFacts): void {
  if (!SECRETS.some(([, pattern]) => pattern.test(source.code))) return;
  for (const { node } of nodesOf(scopes, "Literal", "TemplateElement")) {
    const text = textOf(node);
    const [what] = (text !== undefined && SECRETS.find(([, pattern]) => pattern.test(text))) || [];
    if (what === undefined) continue;
    const message =
      `This text is ${what}, and browsers load this module, so everybody could read it. Store it in an environment variable, ` +
      "and use it in a server module, a file named *.server.ts. If it was ever published, replace it.";
    throw new CompileError(message, { ...source, code: masked(source.code) }, node);
  }
}

/** Returns a source with a `*` for each character of its secrets, for the frame of the error, which logs may store. */
function masked(code: string): string {
  const patterns = SECRETS.map(([, pattern]) => new RegExp(pattern, "g"));
  return patterns.reduce((text, pattern) => text.replace(pattern, (secret) => "*".repeat(secret.length)), code);
}

function textOf(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  return node.type === "TemplateElement" ? (node.value.cooked ?? undefined) : undefined;
}
