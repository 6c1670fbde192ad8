/**
 * What every answer says to browsers about itself.
 *
 * The policy allows no inline script anywhere. Inline `style` attributes are allowed, so that
 * `style={…}` works in markup; `<style>` elements are not.
 */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'self'",
  "img-src 'self' data: https:",
];

/** Gives the security headers of every answer, as name and value pairs. */
export function securityHeaders(options: {
  readonly development: boolean;
  readonly secure: boolean;
}): Record<string, string> {
  const policy = options.development
    ? // The build tool's hot reload puts style sheets of CSS modules into <style> elements.
      POLICY.map((rule) => (rule.startsWith("style-src ") ? `${rule} 'unsafe-inline'` : rule))
    : POLICY;
  return {
    "content-security-policy": policy.join("; "),
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "strict-origin-when-cross-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    ...(options.secure ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
}
