/** A field that filters a list while the user types. */
export function Filter({ label, onInput }: { readonly label: string; readonly onInput: (text: string) => void }) {
  return (
    <input
      type="search"
      class="filter"
      aria-label={label}
      placeholder={label}
      autoComplete="off"
      spellcheck={false}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}
