/** Says, where there is no script, why the form above it does nothing. */
export function NoScript() {
  return (
    <noscript>
      <p class="hint">This form needs JavaScript, which is switched off in your browser.</p>
    </noscript>
  );
}
