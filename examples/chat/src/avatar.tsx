import { ASSISTANT } from "./room-state.ts";

/** The first letter of a name, in a colour that is computed from the name. */
export function Avatar({ id, name }: { readonly id: string; readonly name: string }) {
  const hue = [...name].reduce((sum, letter) => (sum * 53 + letter.charCodeAt(0)) % 360, 3);
  return (
    <span class="avatar" style={{ "--hue": hue }} aria-hidden="true">
      {id === ASSISTANT ? "✦" : [...name][0]?.toUpperCase()}
    </span>
  );
}
