import { form, page, session } from "tsweb";
import { Avatar } from "./avatar.tsx";
import { change_avatar } from "./avatars.server.ts";
import { currentUser } from "./users.server.ts";

export const profile = page("/profile", { title: "Profile" }, async () => {
  session.require(); // a signed-out user is redirected to the page `sign_in` of new App
  const user = await currentUser();
  const upload = form(change_avatar);
  return (
    <section class="panel">
      <h1>{user?.name}</h1>
      <p class="soft">{user?.email}</p>
      <div class="large">{user && <Avatar name={user.name} avatar={user.avatar} />}</div>
      <form action={upload} class="stack">
        <label>
          Image{" "}
          <input
            name="avatar"
            type="file"
            accept="image/png,image/jpeg,image/webp"
            aria-describedby="avatar-hint"
            required
          />
        </label>
        <p id="avatar-hint" class={upload.error ? "wrong" : "soft"} role={upload.error && "alert"}>
          {upload.errors.avatar ?? upload.error?.message ?? "PNG, JPEG or WebP, at most 2 MB."}
        </p>
        <button type="submit" class="main">
          Upload
        </button>
      </form>
    </section>
  );
});
