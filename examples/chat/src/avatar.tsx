import { ASSISTANT } from "./news.ts";

/** Somebody's letter, in a colour of their own. */
export function Avatar({ id, name }: { readonly id: string; readonly name: string }) {
  const hue = [...id].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 360, 7);
  return (
    <span class="avatar" style={{ "--hue": hue }} aria-hidden="true">
      {id === ASSISTANT ? "✦" : [...name][0]?.toUpperCase()}
    </span>
  );
}
