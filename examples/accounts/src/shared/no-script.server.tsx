/** A notice for browsers without JavaScript, in which the form above it does not work. */
export function NoScript() {
  return (
    <noscript>
      <p class="hint">This form needs JavaScript, which is switched off in your browser.</p>
    </noscript>
  );
}
