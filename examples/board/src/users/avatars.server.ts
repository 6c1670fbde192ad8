/** The images of users: files below the data folder, whose names are chosen here. */
import { rm, writeFile } from "node:fs/promises";
import { RPCError, redirect, route, send_file, server, session } from "tsweb";
import { avatarFolder } from "../database/data-folder.server.ts";
import { profile } from "./profile.server.tsx";
import { currentUser, setAvatar } from "./users.server.ts";

export const change_avatar = server({ auth_required: true, max_body: 2_000_000 }, async (avatar: File) => {
  const { sub } = session.require();
  const content = Buffer.from(await avatar.arrayBuffer());
  const type = imageType(content);
  if (!type) throw new RPCError("validation_error", "Choose a PNG, JPEG or WebP image.", { parameter: "avatar" });

  const previous = (await currentUser())?.avatar;
  const name = `${crypto.randomUUID()}.${type}`;
  await writeFile(`${avatarFolder}/${name}`, content, { flag: "wx" });
  await setAvatar(sub, name);
  if (previous) await rm(`${avatarFolder}/${previous}`, { force: true });
  return redirect(profile.href());
});

export const avatar = route("GET /avatars/:name", (_request, { name }) => {
  session.require();
  return send_file({ root: avatarFolder, name, inline: true });
});

/** Returns the type of an image by its first bytes. The type that a browser sends is only a claim. */
function imageType(content: Buffer): "png" | "jpg" | "webp" | undefined {
  const start = content.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "png";
  if (start.startsWith("\xff\xd8\xff")) return "jpg";
  if (start.startsWith("RIFF") && start.endsWith("WEBP")) return "webp";
  return;
}
