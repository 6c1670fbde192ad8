/** The image of a user, or the first letter of the name. The name stands beside it, so it has no text of its own. */
export function Avatar({ name, avatar }: { readonly name: string; readonly avatar: string | null }) {
  if (avatar) return <img class="avatar" src={`/avatars/${avatar}`} alt="" width="28" height="28" />;
  return (
    <span class="avatar" aria-hidden="true">
      {[...name][0]?.toUpperCase()}
    </span>
  );
}
