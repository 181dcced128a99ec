/** The files of a release on its host: how they get there, and how it is known that they are what was uploaded. */
import type { RemoteScript } from '../../io/hosts/hosts.ts'

export const FOLDER = `IFS= read -r slug && IFS= read -r number || exit 64
app="$HOME/.bottega/apps/$slug"
here="$app/r$number"
`

/**
 * `note <names>`: while a release stands here, nobody removes its images, be they there already or built in a moment.
 * `is_noted <id> <name>`: whether one does. Both under `with_images`, which lets one after the other.
 */
export const NOTES = `with_images() { mkdir -p -m 700 "$HOME/.bottega/apps" && ( flock 7 && "$@" ) 7>"$HOME/.bottega/apps/.images"; }
note() { mkdir -p -m 700 "$app" "$here" && printf '%s\\n' $1 > "$here/images"; }
is_noted() { cat "$app"/r*/images 2>/dev/null | grep -qxF -e "$1" -e "$2"; }
`

/** `holds <folder> <listing>`: whether it holds those files and nothing else (`listingOf` in crds/files/archive.ts). */
export const LISTING = `listing() {
  ( cd "$1" && export LC_ALL=C &&
    find . ! -type d -print0 | sort -z | xargs -0 -r sha256sum &&
    find . ! -type d -perm -100 -print0 | sort -z | tr '\\0' '\\n' &&
    find . ! -type d ! -type f ) | sha256sum | cut -d' ' -f1
}
holds() { [ -d "$1" ] && [ "$(listing "$1")" = "$2" ]; }
`

/**
 * stdin: slug, number, listing, time (crds/app/files.ts); then a compressed tar of the files. Whole or not at all. A folder
 * that stands there counts only if it holds the same: another app may have had the name and the number. What was written
 * just now is looked at by the job that makes use of it.
 */
export const UPLOAD: RemoteScript = {
  name: 'app-upload',
  text: `${FOLDER}${LISTING}IFS= read -r listing && IFS= read -r time || exit 64
holds "$here/source" "$listing" && exit 0
mkdir -p -m 700 "$app" "$here" || exit 1
rm -rf "$here/source" "$here/source.partial" && mkdir "$here/source.partial" || exit 1
tar -xz -f - --no-same-owner -C "$here/source.partial" || exit 1
find "$here/source.partial" -exec touch -h -d "@$time" {} + && mv "$here/source.partial" "$here/source"
`,
}
